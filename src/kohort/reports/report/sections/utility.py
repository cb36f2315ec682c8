"""How useful the release still is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kohort.reports.charts.dumbbell import Dumbbell
from kohort.reports.report.document import Block, Picture, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section


@SECTIONS.register("utility")
@dataclass(frozen=True)
class Usefulness(Section):
    """What analyses of the release find, beside those of the original; without that, little can be said."""

    title = "What it is still useful for"
    place = 50

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """Sentences, and what can be learned; distributions and loss have sections of their own."""
        found = evidence.utility
        for sentence in found.sentences(evidence.private):
            yield Text(text=sentence)
        if not evidence.private:
            yield Text(
                text="How well means, counts and models come out is in the private edition: it takes the original."
            )
        for chart in found.charts(evidence.private):
            if isinstance(chart, Dumbbell):
                yield Picture.of(chart)

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """As `utility` has them."""
        return evidence.utility.to_dict(evidence.private)
