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
    parts: list[PublishedTable]
    drafts: list[Path]

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
            self.table = loaded(request.plan, usable, clock.share, clock.note)

    def work(self) -> None:
        """Form the classes, and recode the records."""
        request, table, records = self.request, self.table, self.source.frame.height
        self.solution = solution_of(table, records, request.partitions, request.clock.step)
        with request.clock.step("recode"):
            self.parts = published_tables(self.named, table.scan.kept, table.codes, self.solution, request.plan.policy)
            for part in self.parts:
                refuse_stars(part.stars, records, request.plan.policy)

    def write(self, files: Drafts) -> Written:
        """Write each published table into a draft; for frames, into a private folder that lasts until the check."""
        request, source, plan = self.request, self.source, self.request.plan
        with request.clock.step("write"):
            self.drafts = self._drafts(files)
            neutralise = plan.policy.output.formulas == "neutralised"
            for draft, part in zip(self.drafts, self.parts, strict=True):
                write_table(
                    part.frame, draft, request.kind, source.dialect, neutralise=neutralise, labels=source.labels
                )
        return Written(
            plan=plan,
            axes=self.table.codes.axes,
            original=self._original,
            tables={part.name: same_kind(part.frame, source.kind) for part in self.parts},
            facts=self.solution.facts,
            clusters=self.solution.clusters,
            row_order=self.parts[0].order,
            find_bound=partial(_bound, self.table, self.solution, source.frame.height),
        )

    def examine(self, record: Recording | None) -> Examined:
        """Check each published table, with the one that it completes."""
        drafts = dict(zip([part.name for part in self.parts], self.drafts, strict=True))
        aside = {part.beside: drafts[part.name] for part in self.parts if part.beside}
        with self.request.clock.step("verify"):
            found = {
                part.name: examine(
                    drafts[part.name],
                    part.policy,
                    original=self._original,
                    row_order=part.order,
                    sensitive_table=aside.get(part.name),
                    ledger=record.ledger if record else None,
                    persons=record.persons if record else None,
                    hold=True,
                )
                for part in self.parts
                if not part.beside
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
            return [files.file(table_path(self.request.path, part.name)) for part in self.parts]
        folder = self.place.enter_context(private_folder("kohort-check", guarded=False))
        return [folder / f"release{index}.parquet" for index in range(len(self.parts))]


def _bound(table: Loaded, solution: Solution, records: int) -> float | None:
    """What no release in classes can lose less than; None where the release is of another kind, or nobody asks."""
    plan = table.job.plan
    if isinstance(solution, InTables):
        return None
    return bound_of_codes(table.codes, plan.measure, plan.policy, records, plan.seed)
