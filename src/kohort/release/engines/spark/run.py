"""The engine for tables in files that Spark reads: its release is a folder of files."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kohort.audit.ledger import Recording
from kohort.audit.read.files import files_hash, listed_files
from kohort.audit.spark.audited import audited
from kohort.audit.spark.verify import examine
from kohort.common.spark import guarded
from kohort.release.engines.engine import Engine, Examined, Written
from kohort.release.engines.features import SPARK, Profile, refuse
from kohort.release.engines.job import facts_of
from kohort.release.engines.spark.batches import read_batches, write_batches
from kohort.release.engines.spark.engine import Prepared, prepared
from kohort.release.engines.spark.files import read_files, refuse_types, write_folder
from kohort.release.engines.spark.progress import watched
from kohort.release.engines.spark.session import session
from kohort.release.engines.workspace import files_facts, forget, make_resumable, resumable, same_run
from kohort.release.plan import Plan
from kohort.release.published_loss import Counted
from kohort.release.solve import refuse_stars
from kohort.table.files import FileKind
from kohort.table.safe import Drafts
from kohort.table.sources import Source, open_source
from kohort.table.zones import refuse_zones

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class OnSpark(Engine):
    """Works on the partitions of a table on a cluster."""

    profile: ClassVar[Profile] = SPARK
    plan: Plan
    path: Path
    kept: Path | None
    """Where finished batches are kept, if the run can be resumed."""
    source: Source
    spark: SparkSession
    ready: Prepared
    draft: Path

    def open(self, place: ExitStack) -> None:
        """Start a session, read the files in it, and survey them."""
        request, policy, clock = self.request, self.request.plan.policy, self.request.clock
        assert request.path is not None
        self.path = request.path
        with clock.step("read"):
            self.source = open_source(request.table, policy.input, policy.columns)
            if self.source.kind not in ("csv", "parquet"):
                refuse(SPARK, options=["kind"])
            refuse_types(self.source, policy.columns)
            refuse_zones(self.source.zones, policy)
        self.plan, self.kept = self._resumed()
        self.spark = place.enter_context(session(request.master))
        with clock.step("encode"):
            original = read_files(self.spark, self.source)
            self.ready = guarded(lambda: prepared(original, self.plan, request.partitions))

    def work(self) -> None:
        """Work in batches that are kept, if the run can be resumed; else all is done when the release is written."""
        kept, clock = self.kept, self.request.clock
        if kept is not None:
            with clock.step("cluster"):
                guarded(lambda: write_batches(self.ready.persisted(), kept, clock.share))

    def write(self, files: Drafts) -> Written:
        """Write a folder of files."""
        self.draft, ready, kept, clock = files.folder(self.path), self.ready, self.kept, self.request.clock
        kind: FileKind = "csv" if self.request.kind == "csv" else "parquet"
        delimiter = self.source.dialect.delimiter if self.source.dialect else ","
        with clock.step("cluster"):
            if kept is not None:
                guarded(lambda: write_folder(read_batches(ready, kept), self.draft, kind, delimiter))
            else:
                with watched(self.spark, ready.partitions, clock.share):
                    guarded(lambda: write_folder(ready.released(), self.draft, kind, delimiter))
        axes = ready.job.axes
        return Written(self.plan, axes, self.source.files, {"": None}, facts_of(ready.parts))

    def examine(self, record: Recording | None) -> Examined:
        """Check the folder in the same session, by the auditor's own readers."""
        table, policy = self.request.table, self.plan.policy
        step = self.request.clock.step("verify")
        with step, audited(self.spark, self.draft, table, policy) as (written, there):
            verdict, found = guarded(lambda: examine(written, policy, original=there))
            if verdict.facts.rows_released == verdict.facts.rows_original:
                # Only here all partitions are known.
                refuse_stars(verdict.facts.suppressed, verdict.facts.rows_released, policy)
            published = {axis.name: Counted.of(found.dictionary(axis.name)) for axis in self.ready.job.axes}
            return Examined(verdict.with_hashes(release=files_hash(listed_files(self.draft, "release"))), published)

    def _resumed(self) -> tuple[Plan, Path | None]:
        """The plan, of the run that is resumed if there is one; and where finished batches are kept."""
        request, plan = self.request, self.request.plan
        if not request.resume:
            forget(self.path)
            return plan, None
        make_resumable(self.path)
        facts = {
            "files": files_facts(self.source.files),
            "partitions": request.partitions,
            "policy": plan.policy.to_toml(),
            "version": version("kohort"),
        }
        kept = resumable(self.path)
        return replace(plan, seed=same_run(kept, facts, {"seed": plan.seed})["seed"]), kept
