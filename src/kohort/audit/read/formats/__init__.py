"""How the auditor reads files that are neither CSV nor Parquet: one file, one kind, and never the maker's reader."""

from kohort.audit.read.formats.base import READERS, Kinds, Reader, reader_of

READERS.fill_from(__name__, __path__)

__all__ = ["Kinds", "Reader", "reader_of"]
