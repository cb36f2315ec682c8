"""How easily people are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kohort.reports.charts.class_sizes import ClassSizes
from kohort.reports.report.document import Block, Picture, Table, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section


@SECTIONS.register("risk")
@dataclass(frozen=True)
class OfBeingFound(Section):
    """What prosecutor, journalist and marketer achieve; before and after in a private edition."""

    title = "Risk of being found"
    place = 30

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """Sentences, the main figures, charts; those of class sizes have a section of their own."""
        found = evidence.risk
        for sentence in found.sentences(evidence.private):
            yield Text(text=sentence)
        header, *rows = found.rows(evidence.private)
        if len(header) > 2:
            yield Table(title="Before and after", header=("figure", *header[1:]), rows=tuple(rows))
        for chart in found.charts(evidence.private):
            if not isinstance(chart, ClassSizes):
                yield Picture.of(chart)

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """As `risk` has them."""
        return evidence.risk.to_dict(evidence.private)
