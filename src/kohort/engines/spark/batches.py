"""A release in Spark that is written batch by batch, so that a run that was cut off can go on from there.

What becomes of a part depends on its records, the seed and its number alone. So batches that a run before has written
are what this run would write.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from kohort.engines.spark.engine import Prepared
from kohort.engines.spark.files import write_folder
from kohort.table.files import FileKind

BATCHES = 8
"""Jobs that the work is done in, at most; in each of them many parts are worked on at a time."""


def write_batches(
    ready: Prepared, kept: Path, kind: FileKind, delimiter: str, progress: Callable[[float], None] = lambda share: None
) -> None:
    """Write what is not there yet, each batch into a folder of its own, which appears when it is whole."""
    parts = ready.job.cuts.parts if ready.algorithm_of is None else list(range(ready.parts))
    count = min(BATCHES, len(parts))
    for number in range(count):
        batch = kept / f"batch-{number}"
        if not batch.exists():
            draft = kept / f"draft-{number}"
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            write_folder(ready.released(parts[number::count]), draft, kind, delimiter)
            draft.rename(batch)
        progress((number + 1) / count)


def gather_batches(kept: Path, folder: Path) -> None:
    """Bring the files of all batches together."""
    for batch in sorted(kept.glob("batch-*")):
        for file in sorted(batch.iterdir()):
            # A link, where the file system has such: if this run is cut off, too, the batch is still whole.
            target = folder / f"{batch.name}-{file.name}"
            try:
                target.hardlink_to(file)
            except OSError:
                shutil.copyfile(file, target)
