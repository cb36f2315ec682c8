"""Stata."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from typing_extensions import override

from kohort.table.formats.base import FORMATS
from kohort.table.formats.statistics import Statistics, by


@FORMATS.register("stata")
class Stata(Statistics):
    """The missing values .a to .z are missing."""

    title = "Stata"
    suffixes = (".dta",)
    letters = 2_045
    name_pattern = r"[^\W\d]\w{0,31}"
    name_words = "up to 32 letters, digits and _, no digit first"
    time = (rb"<timestamp>\x11.{17}</timestamp>", b"<timestamp>\x1101 Jan 2000 00:00</timestamp>")

    @override
    def _read(self, readstat: Any, path: Path) -> tuple[pl.DataFrame, Any]:
        return by(readstat, "read_dta", path)

    @override
    def _write(self, readstat: Any, frame: pl.DataFrame, path: Path, labels: Mapping[str, str]) -> None:
        readstat.write_dta(frame, str(path), column_labels=dict(labels), version=15)
