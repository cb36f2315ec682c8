"""Work in Spark that is done batch by batch, so that a run that was cut off can go on from there.

What becomes of a partition depends on its records, the seed and its number alone. So batches that a run before has
written are what this run would write. They hold rows with their random keys: the release is mixed when all are there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kohort.release.engines.spark.engine import Prepared
from kohort.release.engines.spark.files import read_parquet, write_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BATCHES = 8
"""Jobs that the work is done in, at most; in each of them many partitions are worked on at a time."""


def write_batches(ready: Prepared, kept: Path, progress: Callable[[float], None] = lambda share: None) -> None:
    """Write what is not there yet, each batch into a folder of its own, which appears when it is whole."""
    parts = ready.job.cuts.parts if ready.algorithm_of is None else list(range(ready.parts))
    count = min(BATCHES, len(parts))
    for number in range(count):
        _write(ready.rows(parts[number::count]), kept, number)
        progress((number + 1) / count)
    others = ready.others()
    if others is not None:
        _write(others, kept, count)


def read_batches(ready: Prepared, kept: Path) -> DataFrame:
    """The release, mixed from the rows of all batches."""
    files = [file for batch in sorted(kept.glob("batch-*")) for file in sorted(batch.iterdir())]
    return ready.mixed(read_parquet(ready.scan.frame.sparkSession, files))


def _write(rows: DataFrame, kept: Path, number: int) -> None:
    batch, draft = kept / f"batch-{number}", kept / f"draft-{number}"
    if not batch.exists():
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        write_folder(rows, draft, "parquet")
        draft.rename(batch)
