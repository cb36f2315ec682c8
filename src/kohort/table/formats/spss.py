"""SPSS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from typing_extensions import override

from kohort.table.formats.base import FORMATS
from kohort.table.formats.statistics import Statistics, by


@FORMATS.register("spss")
class Spss(Statistics):
    """Values that a file declares as missing, such as 99, are missing."""

    title = "SPSS"
    suffixes = (".sav", ".zsav")
    letters = 32_767
    name_pattern = r"[^\W\d_][\w.$#@]{0,63}"
    name_words = "up to 64 letters, digits and _, a letter first"
    time = (rb"\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d", b"01 Jan 0000:00:00")

    @override
    def _read(self, readstat: Any, path: Path) -> tuple[pl.DataFrame, Any]:
        return by(readstat, "read_sav", path)

    @override
    def _write(self, readstat: Any, frame: pl.DataFrame, path: Path, labels: Mapping[str, str]) -> None:
        readstat.write_sav(frame, str(path), column_labels=dict(labels), compress=path.suffix.lower() == ".zsav")
