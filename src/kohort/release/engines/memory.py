"""The engine for a table in memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import ClassVar

import polars as pl

from kohort.audit import Verdict, examine, refuse_misread
from kohort.audit.ledger import Recording
from kohort.codes.boxes import Solution
from kohort.codes.publish import InTables, PublishedTable, published_tables
from kohort.common.private import private_folder
from kohort.measures.bounds.table import bound_of_codes
from kohort.release.engines.engine import Engine, Examined, Written
from kohort.release.engines.features import MEMORY, Profile
from kohort.release.engines.frame import Loaded, loaded, solution_of, usable_of
from kohort.release.pseudonyms import read_key, with_pseudonyms
from kohort.release.published_loss import Counted
from kohort.release.sets import PublishedSets, SetsOf, published_sets
from kohort.release.solve import refuse_stars
from kohort.table import Table, read_table, same_kind, write_table
from kohort.table.safe import Drafts
from kohort.table.targets import table_path
from kohort.table.write import refuse_formless


class InMemory(Engine):
    """Works on a table that is read as a whole."""

    profile: ClassVar[Profile] = MEMORY
    place: ExitStack
    source: Table
    named: pl.DataFrame
    """The table as read, with pseudonyms in the place of the identifiers that have some."""
    table: Loaded
    solution: Solution
    published: list[PublishedTable]
    drafts: list[Path]
    sets: SetsOf | None
    of_sets: PublishedSets | None = None
    """What became of the sets, where there are some."""

    def open(self, place: ExitStack) -> None:
        """Read and encode the table."""
        request, policy, clock = self.request, self.request.plan.policy, self.request.clock
        self.place, secret = place, read_key(policy)
        with clock.step("read"):
            self.source = source = read_table(request.table, policy.input, policy.columns)
            if source.dialect is not None:
                refuse_misread(source.files, policy, source.frame.columns, source.frame.height)
        with clock.step("encode"):
            usable = usable_of(source, policy)
            if request.kind != "parquet":
                refuse_formless(source.frame.drop(*policy.dropped, *policy.quasi_identifiers).schema)
            self.named = with_pseudonyms(source.frame, policy, secret)
            self.sets = SetsOf.of(source.frame, request.plan)
            self.table = loaded(request.plan, usable, clock.share, clock.note)

    def work(self) -> None:
        """Form the classes, and recode the records."""
        request, table, records = self.request, self.table, self.source.frame.height
        self.solution = solution_of(table, records, request.partitions, request.clock.step)
        if self.sets is not None:
            with request.clock.step("sets"):
                self._repair_sets(self.sets)
        with request.clock.step("recode"):
            self.published = published_tables(
                self.named, table.scan.kept, table.codes, self.solution, request.plan.policy
            )
            for one in self.published:
                refuse_stars(one.stars, records, request.plan.policy)

    def _repair_sets(self, sets: SetsOf) -> None:
        """Repair the sets inside the classes, some of which may become one."""
        table, plan = self.table, self.request.plan
        found = published_sets(
            sets, table.codes, table.scan.kept, self.solution, plan, as_text=self.request.kind != "parquet"
        )
        self.solution, self.of_sets = found.solution, found
        self.named = self.named.with_columns(found.column)

    def write(self, files: Drafts) -> Written:
        """Write each published table into a draft; for frames, into a private folder that lasts until the check."""
        request, source, plan = self.request, self.source, self.request.plan
        with request.clock.step("write"):
            self.drafts = self._drafts(files)
            neutralise = plan.policy.output.formulas == "neutralised"
            for draft, one in zip(self.drafts, self.published, strict=True):
                write_table(one.frame, draft, request.kind, source.dialect, neutralise=neutralise, labels=source.labels)
        return Written(
            plan=plan,
            axes=self.table.codes.axes,
            original=self._original,
            tables={one.name: same_kind(one.frame, source.kind) for one in self.published},
            facts=self.solution.facts,
            of_sets=self.of_sets,
            clusters=self.solution.clusters,
            row_order=self.published[0].order,
            find_bound=partial(_bound, self.table, self.solution, source.frame.height),
        )

    def examine(self, record: Recording | None) -> Examined:
        """Check each published table, with the one that it completes."""
        drafts = dict(zip([one.name for one in self.published], self.drafts, strict=True))
        aside = {one.beside: drafts[one.name] for one in self.published if one.beside}
        with self.request.clock.step("verify"):
            found = {
                one.name: examine(
                    drafts[one.name],
                    one.policy,
                    original=self._original,
                    row_order=one.order,
                    sensitive_table=aside.get(one.name),
                    ledger=record.ledger if record else None,
                    persons=record.persons if record else None,
                    hold=True,
                )
                for one in self.published
                if not one.beside
            }
        first, *_ = found.values()
        return Examined(
            Verdict.of_tables({name: one.verdict for name, one in found.items()}),
            {name: Counted.of(texts) for one in found.values() for name, texts in one.published.items()},
            first.shown,
            first.people,
        )

    @property
    def _original(self) -> Sequence[Path] | pl.DataFrame:
        return self.source.files or self.source.frame

    def _drafts(self, files: Drafts) -> list[Path]:
        if self.request.path is not None:
            return [files.file(table_path(self.request.path, one.name)) for one in self.published]
        folder = self.place.enter_context(private_folder("kohort-check", guarded=False))
        return [folder / f"release{index}.parquet" for index in range(len(self.published))]


def _bound(table: Loaded, solution: Solution, records: int) -> float | None:
    """What no release in classes can lose less than; None where the release is of another kind, or nobody asks."""
    plan = table.job.plan
    if isinstance(solution, InTables) or plan.policy.sets:
        return None
    return bound_of_codes(table.codes, plan.measure, plan.policy, records, plan.seed)
