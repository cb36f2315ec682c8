"""Kinds of files beside CSV and Parquet: one file, one kind. To add one, write a module here; no other changes.

The auditor has readers of its own, in `kohort.audit.read.formats`.
"""

from kohort.common.registry import load_modules
from kohort.table.formats.base import FORMATS, Contents, Format, format_of

load_modules(__name__, __path__)

__all__ = ["FORMATS", "Contents", "Format", "format_of"]
