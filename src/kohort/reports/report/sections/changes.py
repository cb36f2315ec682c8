"""What was done to each quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from kohort.reports.report.document import Block, Picture, Table, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section
from kohort.reports.report.written import Written
from kohort.reports.utility.pictures import of_column
from kohort.reports.words import percent

_CHARTS = 16
"""Columns that have a chart, those first that lose most."""


@SECTIONS.register("changes")
@dataclass(frozen=True)
class Changes(Section):
    """How cells are written now, and how the values were and are distributed."""

    title = "What was done to each column"
    place = 60

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """A row for each quasi-identifier, then charts."""
        loss = evidence.loss.by_column
        rows = [
            (name, *map(percent, (one.exact, one.coarse, one.star, one.missing, loss[name])))
            for name, one in _written(evidence).items()
        ]
        yield Table(
            title="How the cells of the quasi-identifiers are written",
            header=("column", "exact", "coarser", "*", "missing", "detail lost"),
            rows=tuple(rows),
            note="Coarser: an interval, a label above a value, or a mask.",
        )
        found = (evidence.utility.private or evidence.utility.public).distributions
        shown = sorted(
            (one for one in found if one.column in loss and len(one.labels) > 1), key=lambda one: -loss[one.column]
        )[:_CHARTS]
        if shown:
            yield Text(text=_explained(evidence))
        yield from (Picture.of(of_column(one)) for one in shown)

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """Shares of cells by the way that they are written."""
        return {name: asdict(one) for name, one in _written(evidence).items()}


def _written(evidence: Evidence) -> dict[str, Written]:
    published = evidence.published
    return {axis.name: Written.of(published.column(axis.name), published.counts[axis.name]) for axis in published.axes}


def _explained(evidence: Evidence) -> str:
    how = "the release (filled) beside the original (outlined)" if evidence.private else "the release"
    return (
        f"How values are distributed in {how}, if an interval stands equally for each value that it covers. The outer "
        f"bars hold everything beyond; what fewer than {evidence.k} have is not shown by itself. "
        "Where too few values can be named, groups of the hierarchy stand for them."
    )
