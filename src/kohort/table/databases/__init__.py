"""Databases: one file, one kind. To add one, write a module here; no other changes."""

from kohort.table.databases.base import DATABASES, Session, SqlTable, copied_table, is_url, opened

DATABASES.fill_from(__name__, __path__)

__all__ = ["DATABASES", "Session", "SqlTable", "copied_table", "is_url", "opened"]
