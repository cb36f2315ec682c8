"""Kinds of files beside CSV and Parquet: one file, one kind. To add one, write a module here; no other changes.

The auditor has readers of its own, in `kohort.audit.read.formats`.
"""

from kohort.table.formats.base import FORMATS, Contents, Format, format_of

FORMATS.fill_from(__name__, __path__)

__all__ = ["FORMATS", "Contents", "Format", "format_of"]
