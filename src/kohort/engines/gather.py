"""The parts of a release -> one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from kohort.engines.duck import sorted_file
from kohort.engines.job import ROW, Job
from kohort.engines.workspace import Workspace
from kohort.recode import starred
from kohort.table.csv import Dialect
from kohort.table.write import write_stream


def gathered(
    job: Job,
    parts: list[int],
    space: Workspace,
    others: pl.DataFrame | None,
    draft: Path,
    dialect: Dialect | None,
    memory: int,
) -> Path:
    """Write all parts into one file; returns a Parquet file with the number of the original row of each row.

    Suppressed records that are shown come at the end, those of all parts mixed: where one stands must not tell what
    part it was in.
    """
    files = [space.released(part) for part in parts]
    last = _withheld(job, parts, space, others)
    if last.height:
        files.append(space.raw / "withheld.parquet")
        last.write_parquet(files[-1], compression="lz4")
    if job.policy.output.order == "kept":
        files = [sorted_file(files, space.raw, memory)]
    rows = pl.scan_parquet(files, glob=False, hive_partitioning=False)
    order = space.raw / "order.parquet"
    rows.select(ROW).sink_parquet(order, compression="lz4", maintain_order=True)
    write_stream(rows.drop(ROW), draft, dialect, neutralise=job.policy.output.formulas == "neutralised")
    return order


def _withheld(job: Job, parts: list[int], space: Workspace, others: pl.DataFrame | None) -> pl.DataFrame:
    """Suppressed records as they are shown, if they are, in a random order."""
    frames = [pl.read_parquet(space.withheld(part)) for part in parts]
    if others is not None and job.policy.output.suppressed == "starred":
        frames.append(starred(others, frames[0], job.policy.quasi_identifiers))
    whole = pl.concat(frames)
    return whole[np.random.default_rng([job.shuffle, len(job.axes), whole.height]).permutation(whole.height)]
