"""kohort on Spark: `anonymize` and `verify` for tables in Spark, and releases of files for the command line.

It needs ``pip install 'kohort[spark]'`` and Java. See docs/spark.md.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kohort.common import stopping
from kohort.common.progress import Clock, Progress
from kohort.release.engines.spark.progress import watched
from kohort.release.engines.spark.session import refuse_without_spark, session

refuse_without_spark()

from kohort.audit.read.files import files_hash, listed_files  # noqa: E402
from kohort.audit.spark.audited import audited  # noqa: E402
from kohort.audit.spark.verify import examine, verify  # noqa: E402
from kohort.common.packed import named_packing  # noqa: E402
from kohort.common.spark import guarded  # noqa: E402
from kohort.errors import DataError  # noqa: E402
from kohort.policy import Policy  # noqa: E402
from kohort.release.engines.features import SPARK, refuse  # noqa: E402
from kohort.release.engines.job import facts_of  # noqa: E402
from kohort.release.engines.spark.batches import read_batches, write_batches  # noqa: E402
from kohort.release.engines.spark.engine import anonymize, prepared  # noqa: E402
from kohort.release.engines.spark.files import read_files, refuse_types, write_folder  # noqa: E402
from kohort.release.engines.workspace import files_facts, make_resumable, resumable, same_run  # noqa: E402
from kohort.release.finish import documents_of, refuse_verdict, release_of  # noqa: E402
from kohort.release.plan import Plan, plan_of  # noqa: E402
from kohort.release.published_loss import Counted  # noqa: E402
from kohort.release.release import Release  # noqa: E402
from kohort.release.solve import refuse_stars  # noqa: E402
from kohort.table.files import FileKind  # noqa: E402
from kohort.table.read import file_kind  # noqa: E402
from kohort.table.safe import refuse_existing, together  # noqa: E402
from kohort.table.sources import Source, open_source  # noqa: E402
from kohort.table.targets import read_by, refuse_targets  # noqa: E402
from kohort.table.zones import refuse_zones  # noqa: E402

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
    policy, path, clock = Policy.of(policy), Path(output), Clock(progress)
    documents = documents_of(path, verdict, private)
    plan = plan_of(policy)
    refuse(SPARK, plan)
    if os.path.lexists(path) and path.name:
        raise DataError(f"{path.name}: is already there, and a folder is not written over; remove it first.")
    refuse_targets({"output": path} | documents.targets, read_by(table, policy, plan.models))
    if not overwrite:
        refuse_existing(documents.targets.values())
    if file_kind(path) not in ("csv", "parquet"):
        refuse(SPARK, options=["kind"])
    if file_kind(path) == "csv" and named_packing(path) != "none":
        raise DataError(f"{path.name}: Spark writes a folder of files; give a name that ends in .csv or .parquet.")
    with clock.step("read"):
        source = open_source(table, policy.input, policy.columns)
        if source.kind not in ("csv", "parquet"):
            refuse(SPARK, options=["kind"])
        refuse_types(source, policy.columns)
        refuse_zones(source.zones, policy)
    kept = resumable(path)
    if not resume:
        shutil.rmtree(kept, ignore_errors=True)
    else:
        plan = _resumed(plan, path, {"files": files_facts(source.files), "partitions": partitions})
    with together(stopping.published, overwrite=overwrite) as files:
        draft = files.folder(path)
        release = _released(table, source, plan, path, draft, clock, master, partitions, kept if resume else None)
        documents.write(release, files)
    shutil.rmtree(kept, ignore_errors=True)
    return release


def _released(
    table: str | Path,
    source: Source,
    plan: Plan,
    path: Path,
    draft: Path,
    clock: Clock,
    master: str | None,
    partitions: int | None,
    kept: Path | None,
) -> Release:
    """Write the release into a draft, and verify it there; Spark has ended before it appears."""
    policy = plan.policy
    kind: FileKind = "csv" if file_kind(path) == "csv" else "parquet"
    delimiter = source.dialect.delimiter if source.dialect else ","
    with session(master) as spark:
        with clock.step("encode"):
            original = read_files(spark, source)
            ready = guarded(lambda: prepared(original, plan, partitions))
        with clock.step("cluster"):
            if kept is not None:
                guarded(lambda: write_batches(ready.persisted(), kept, clock.share))
                guarded(lambda: write_folder(read_batches(ready, kept), draft, kind, delimiter))
            else:
                with watched(spark, ready.partitions, clock.share):
                    guarded(lambda: write_folder(ready.released(), draft, kind, delimiter))
        with clock.step("verify"), audited(spark, draft, table, policy) as (written, there):
            verdict, found = guarded(lambda: examine(written, policy, original=there))
            if verdict.facts.rows_released == verdict.facts.rows_original:
                # Only here all partitions are known.
                refuse_stars(verdict.facts.suppressed, verdict.facts.rows_released, policy)
            refuse_verdict(verdict)
            published = {axis.name: Counted.of(found.dictionary(axis.name)) for axis in ready.job.axes}
            verdict = verdict.with_hashes(release=files_hash(listed_files(draft, "release")))
        return release_of(
            plan,
            ready.job.axes,
            source.files,
            verdict,
            published,
            clock,
            clusters=verdict.facts.classes or 0,
            table=None,
            path=path,
            tables={"": None},
            facts=facts_of(ready.parts),
        )


def _resumed(plan: Plan, path: Path, facts: dict[str, Any]) -> Plan:
    """The plan of the run that is resumed, if there is one."""
    facts = facts | {"policy": plan.policy.to_toml(), "version": version("kohort")}
    make_resumable(path)
    return replace(plan, seed=same_run(resumable(path), facts, {"seed": plan.seed})["seed"])
