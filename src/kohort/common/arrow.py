"""Arrow data between polars and DuckDB, and the Arrow schema inside a Parquet file, without pyarrow."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

SCHEMA = b"ARROW:schema"
"""Key of the Arrow schema among the metadata of a Parquet file."""
_TIMESTAMP = 10
"""Number of the type in the format's list of types."""


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


def time_zones(schema: bytes) -> dict[str, str]:
    """Find the time zone of every column of timestamps; it is empty where a column has none.

    Parquet itself has no place for a time zone. Writers that know one put it into an Arrow schema among the metadata.

    Parameters
    ----------
    schema : bytes
        What the metadata of the file have under `SCHEMA`; nothing is found in bytes that are no schema.
    """
    try:
        fields = _schema(schema).tables(1)
        return {field.text(0): field.table(3).text(1) for field in fields if field.byte(2) == _TIMESTAMP}
    except (ValueError, IndexError, struct.error):
        return {}


def notes(schema: bytes) -> tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]]:
    """List what is noted in a schema beside types, of the table and of its columns: keys and values.

    Raises
    ------
    ValueError
        When the bytes are no schema.
    """
    try:
        table = _schema(schema)
        return list(_pairs(table, 2)), [pair for field in _inside(table, 1) for pair in _pairs(field, 6)]
    except (IndexError, struct.error, RecursionError) as error:
        raise ValueError from error


def has_dictionaries(schema: bytes) -> bool:
    """Whether a column has a dictionary, all of which is written, also values that no row has."""
    try:
        return any(map(_Flat.has_dictionary, _inside(_schema(schema), 1)))
    except (ValueError, IndexError, struct.error, RecursionError):
        return True


def _schema(schema: bytes) -> _Flat:
    message = base64.b64decode(schema, validate=True)
    start = 8 if message[:4] == b"\xff" * 4 else 4
    return _Flat(message, start).root().table(2)


def _inside(table: _Flat, children: int) -> Iterator[_Flat]:
    """The fields of a schema or of a field, and those inside of them."""
    for field in table.tables(children):
        yield field
        yield from _inside(field, 5)


def _pairs(table: _Flat, field: int) -> Iterator[tuple[bytes, bytes]]:
    for pair in table.tables(field):
        yield pair.text(0).encode(), pair.text(1).encode()


@dataclass(frozen=True)
class _Flat:
    """A place in a flatbuffer: little-endian numbers, and offsets that count from where they stand."""

    buffer: bytes
    place: int

    def root(self) -> _Flat:
        return self._followed(self.place)

    def table(self, field: int) -> _Flat:
        return self._followed(self._of(field))

    def tables(self, field: int) -> Iterator[_Flat]:
        """The tables of a vector, none if it is not there."""
        if not self._of(field):
            return
        vector = self.table(field)
        for number in range(vector._number("<I", vector.place)):
            yield self._followed(vector.place + 4 + 4 * number)

    def text(self, field: int) -> str:
        """A text, empty if it is not there."""
        if not self._of(field):
            return ""
        start = self.table(field).place
        return self.buffer[start + 4 : start + 4 + self._number("<I", start)].decode()

    def has_dictionary(self) -> bool:
        """Whether this field of a schema stands for numbers of a dictionary."""
        return bool(self._of(4))

    def byte(self, field: int) -> int:
        place = self._of(field)
        return self.buffer[place] if place else 0

    def _of(self, field: int) -> int:
        """Where a field of this table is; 0 if it has none."""
        layout = self.place - self._number("<i", self.place)
        inside = 4 + 2 * field < self._number("<H", layout)
        offset = self._number("<H", layout + 4 + 2 * field) if inside else 0
        return self.place + offset if offset else 0

    def _followed(self, place: int) -> _Flat:
        return _Flat(self.buffer, place + self._number("<I", place))

    def _number(self, form: str, place: int) -> int:
        return int(struct.unpack_from(form, self.buffer, place)[0])
