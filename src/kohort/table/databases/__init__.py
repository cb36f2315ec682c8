"""Databases: one file, one kind. To add one, write a module here; no other changes."""

from kohort.common.registry import load_modules
from kohort.table.databases.base import DATABASES, Session, SqlTable, copied_table, is_url, opened

load_modules(__name__, __path__)

__all__ = ["DATABASES", "Session", "SqlTable", "copied_table", "is_url", "opened"]
