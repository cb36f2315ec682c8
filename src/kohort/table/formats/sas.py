"""SAS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from typing_extensions import override

from kohort.table.formats.base import FORMATS
from kohort.table.formats.statistics import Statistics, by


@FORMATS.register("sas")
class Sas(Statistics):
    """Codes and no labels: these are in a catalog beside the file."""

    title = "SAS"
    suffixes = (".sas7bdat", ".xpt")
    writes = (".xpt",)
    letters = 200
    name_pattern = r"[A-Za-z_][A-Za-z0-9_]{0,31}"
    name_words = "up to 32 letters, digits and _, no digit first"
    time = (rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d", b"01JAN00:00:00:00")

    @override
    def _read(self, readstat: Any, path: Path) -> tuple[pl.DataFrame, Any]:
        return by(readstat, "read_xport" if path.suffix.lower() == ".xpt" else "read_sas7bdat", path)

    @override
    def _write(self, readstat: Any, frame: pl.DataFrame, path: Path, labels: Mapping[str, str]) -> None:
        # Version 5 is what regulators ask for; it has names of 8 letters.
        version = 5 if max(map(len, frame.columns)) <= 8 else 8
        words = dict(labels)
        readstat.write_xport(frame, str(path), column_labels=words, table_name="RELEASE", file_format_version=version)
