"""The partitions of a release -> one file, whose rows are mixed."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kohort.release.engines.duck import sorted_file
from kohort.release.engines.job import KEY, ROW, Job
from kohort.release.engines.partition import release_others
from kohort.release.engines.workspace import Workspace
from kohort.table.csv import Dialect
from kohort.table.write import write_stream
from kohort.table.zones import placed


def gathered(
    job: Job,
    parts: list[int],
    space: Workspace,
    others: pl.DataFrame | None,
    draft: Path,
    dialect: Dialect | None,
    memory: int,
) -> Path:
    """Write all partitions into one file; returns a Parquet file with the number of the original row of each row.

    Rows of all partitions and suppressed records are sorted by their random keys, on disk: where one stands must not
    reveal its partition.

    Parameters
    ----------
    others : DataFrame or None
        Records that do not take part.
    memory : int
        Bytes that sorting may take.
    """
    files = [space.released(part) for part in parts]
    if others is not None and job.policy.output.suppressed == "starred":
        like = pl.read_parquet(files[0], n_rows=0)
        shown = release_others(others, job, like.drop(ROW, KEY)).with_columns(others[ROW])
        files.append(space.raw / "others.parquet")
        shown.select(like.columns).write_parquet(files[-1], compression="lz4")
    by = [ROW] if job.policy.output.order == "kept" else [KEY, ROW]
    rows = sorted_file(files, by, space.raw, memory)
    order = space.raw / "order.parquet"
    rows.select(ROW).sink_parquet(order, compression="lz4", maintain_order=True)
    published = placed(rows.drop(ROW, KEY), job.zones)
    write_stream(published, draft, dialect, neutralise=job.policy.output.formulas == "neutralised")
    return order
