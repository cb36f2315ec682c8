"""Arrow data between polars and DuckDB, without pyarrow."""

from __future__ import annotations

from typing import Protocol


class HasStream(Protocol):
    """Anything that offers its rows as an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class ArrowStream:
    """A frame or relation as nothing but a stream of Arrow data.

    DuckDB takes a polars frame only through pyarrow unless it sees no more than this method; and
    polars, given DuckDB's own relation, remembers its type for good, which DuckDB reports as a
    leak on standard error when the interpreter ends.
    """

    def __init__(self, source: HasStream) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)
