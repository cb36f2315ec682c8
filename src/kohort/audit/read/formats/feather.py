"""Feather, by the library of Arrow itself; polars, which writes it, has another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from kohort.audit.read.formats.base import READERS, Kinds, Reader, guarded, library, refuse_names
from kohort.errors import DataError
from kohort.policy.sections import Input

if TYPE_CHECKING:
    import polars as pl


def _says_more(arrow: Any, file: Any) -> bool:
    """Whether it holds more than plain cells: of the file, of a column, or of a piece."""
    pieces = (file.get_batch_with_custom_metadata(number)[1] for number in range(file.num_record_batches))
    return (
        bool(file.schema.metadata)
        or any(field.metadata or arrow.types.is_dictionary(field.type) for field in file.schema)
        or any(map(bool, pieces))
    )


@READERS.register("feather")
class Feather(Reader):
    """In a release, dictionaries are refused: they may hold values that no row has."""

    extra = "feather"
    suffixes = (".feather", ".arrow", ".ipc")

    @override
    def matches(self, head: bytes, path: Path) -> bool:
        return head.startswith(b"ARROW1")

    @override
    def pieces(self, path: Path, place: str, settings: Input | None, kinds: Kinds) -> Iterator[pl.DataFrame]:
        import polars as pl

        arrow = library("pyarrow", place, self.extra)
        with guarded(place, lambda: arrow.ipc.open_file(arrow.memory_map(str(path)))) as file:
            refuse_names(file.schema.names, place)
            if settings is None and guarded(place, lambda: _says_more(arrow, file)):
                raise DataError(
                    f"{place}: it has dictionaries or metadata, which may hold more than the rows; write plain columns."
                )
            plain = [
                field.with_type(field.type.value_type) if arrow.types.is_dictionary(field.type) else field
                for field in file.schema
            ]
            schema = arrow.schema(plain)

            def piece(number: int) -> pl.DataFrame:
                table = arrow.Table.from_batches([file.get_batch(number)]).cast(schema)
                return pl.DataFrame(pl.from_arrow(table))

            for number in range(file.num_record_batches):
                yield guarded(place, lambda number=number: piece(number))  # type: ignore[misc]
            if not file.num_record_batches:
                yield pl.DataFrame(pl.from_arrow(schema.empty_table()))
