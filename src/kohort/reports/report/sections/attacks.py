"""What attackers would achieve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kohort.reports.report.document import Block, Picture, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section
from kohort.reports.report.words import names


@SECTIONS.register("attacks")
@dataclass(frozen=True)
class Attempts(Section):
    """A sentence about each attack, beside what chance would bring; in a private edition with what would stop it."""

    title = "Attacks"
    place = 40

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """Those that succeed first, then the chart, then what was not tried."""
        found = evidence.attacks
        for one in sorted(found.shown(evidence.private), key=lambda one: (not one.succeeds, -one.success.value)):
            advice = f" {one.mitigation.advice}" if one.succeeds and evidence.private else ""
            yield Text(text=one.sentence + advice, tone="note" if one.succeeds else "good", label=one.title)
        yield from (Picture.of(chart) for chart in found.charts(evidence.private))
        if found.not_run:
            missing = sorted({one.name for one in found.not_run})
            yield Text(text=f"Not tried: {names(missing)}; the figures of this report say why.")

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """As `attack` has them."""
        return evidence.attacks.to_dict(evidence.private)
