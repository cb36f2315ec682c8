"""kohort on Spark: `anonymize` and `verify` for tables in Spark, and releases of files for the command line.

It needs ``pip install 'kohort[spark]'`` and Java. See docs/spark.md.
"""

from __future__ import annotations

from pathlib import Path

from kohort.common.progress import Progress
from kohort.release.engines.spark.session import refuse_without_spark, session

refuse_without_spark()

from kohort.audit.spark.verify import verify  # noqa: E402
from kohort.policy import Policy  # noqa: E402
from kohort.release.engines.features import SPARK  # noqa: E402
from kohort.release.engines.spark.engine import anonymize  # noqa: E402
from kohort.release.release import Release  # noqa: E402
from kohort.release.run import released  # noqa: E402

__all__ = ["anonymize", "release", "session", "verify"]


def release(
    table: str | Path,
    policy: Policy | str | Path,
    output: str | Path,
    *,
    master: str | None = None,
    partitions: int | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    verdict: str | Path | None = None,
    private: str | Path | None = None,
    overwrite: bool = False,
) -> Release:
    """Make a verified release of a table in files, as a folder of files.

    Parameters
    ----------
    table : path
        A CSV or Parquet file, a folder of such, or a pattern. Workers on other machines must find it under this path.
    policy : Policy or path
        What is promised about which column.
    output : path
        The folder, whose name ends in .parquet or .csv. It appears only after its files have been verified.
    master : str, optional
        Where Spark runs: ``local[*]`` when absent, ``spark://host:port``, or ``sc://host:port`` for Spark Connect.
    partitions : int, optional
        Partitions; without it, one for each 50,000 records.
    resume : bool
        Work in batches, keep those that are finished if the run is cut off, and go on from those of a run that was.
    progress : callable, optional
        Called with the step and the share of it that is done, 0 to 1.
    verdict, private : path, optional
        Write the verdicts there, too; they appear with the folder, or nothing does.
    overwrite : bool
        Write over verdicts that are there. A folder is never written over.

    Returns
    -------
    Release
        Verdict, loss and provenance; the table is in the folder.

    Raises
    ------
    PolicyError, DataError, EngineError
        When policy, table or Spark are faulty.
    InfeasibleError
        When nothing can keep the promise.
    VerificationError
        When the written files do not keep it; nothing is published.
    """
    return released(
        SPARK,
        table,
        policy,
        output=output,
        master=master,
        partitions=partitions,
        resume=resume,
        progress=progress,
        verdict=verdict,
        private=private,
        overwrite=overwrite,
    )
