"""JSON lines: an object for each record, one in each line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import polars.selectors as cs
from typing_extensions import override

from kohort.common.packed import named_packing, packed, unpacked
from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table.formats.base import FORMATS, Contents, Format, batches_of, guarded_batches


@FORMATS.register("jsonl")
class JsonLines(Format):
    """A column is text if one of its values is; a key that a record lacks is a missing value."""

    title = "JSON lines"
    suffixes = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst")

    @override
    def read(self, path: Path, settings: Input) -> Contents:
        with path.open("rb"):
            pass  # what cannot be opened says so
        return Contents(_pieces(path))

    @override
    def write(self, rows: pl.LazyFrame, path: Path, labels: Mapping[str, str]) -> None:
        with packed(path) as file:
            for piece in batches_of(rows):
                infinite = piece.select(cs.float().is_infinite().any())
                DataError.refuse(
                    f"column {name!r}: JSON has no infinite numbers; make them missing, or write CSV."
                    for name in infinite.columns
                    if infinite[name][0]
                )
                piece.write_ndjson(file)


def _pieces(path: Path) -> Iterator[pl.DataFrame]:
    damaged = "is not JSON lines, an object in each line and one kind of values for each key; check it."
    with unpacked(path, named_packing(path)) as file:
        # Not by its name, which might be taken for a pattern; what is packed is unpacked in memory.
        source = file if named_packing(path) == "none" else file.read()
        yield from guarded_batches(path, damaged, lambda: pl.scan_ndjson(source, infer_schema_length=None))
