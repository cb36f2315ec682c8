"""Feather, which is the file format of Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import polars as pl
from typing_extensions import override

from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table.formats.base import FORMATS, Contents, Format, guarded, guarded_batches
from kohort.table.zones import unknown_zones


@FORMATS.register("feather")
class Feather(Format):
    """Types as in Parquet; what was a dictionary is published as text, as it may hold values that no row has."""

    title = "Feather"
    suffixes = (".feather", ".arrow", ".ipc")
    extra = "feather"
    libraries = ("pyarrow",)

    @override
    def read(self, path: Path, settings: Input) -> Contents:
        with path.open("rb"):
            pass  # what cannot be opened says so
        damaged = "is no readable Feather file; check how it was written."
        # polars takes a zone that it does not know for a fault of its own
        DataError.refuse(unknown_zones(guarded(path, damaged, lambda: _zones(path)), path.name, ()))
        return Contents(guarded_batches(path, damaged, lambda: pl.scan_ipc(path, glob=False)))

    @override
    def write(self, rows: pl.LazyFrame, path: Path, labels: Mapping[str, str]) -> None:
        # In the types that every reader of Arrow knows.
        rows.sink_ipc(path, compression="zstd", compat_level=pl.CompatLevel.oldest(), maintain_order=True)


def _zones(path: Path) -> dict[str, str]:
    """The zones of its columns of moments."""
    with import_module("pyarrow").ipc.open_file(str(path)) as file:
        return {field.name: zone for field in file.schema if (zone := getattr(field.type, "tz", None))}
