"""What was lost, and how far that is from the least possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from kohort.measures.loss import against_bound
from kohort.reports.charts.bars import Bars
from kohort.reports.report.document import Block, Picture, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section
from kohort.reports.words import percent

_MOST = 24
"""Columns that have a bar, those that lose most."""


@SECTIONS.register("loss")
@dataclass(frozen=True)
class LossOfDetail(Section):
    """The loss in total and by column."""

    title = "Detail that was lost"
    place = 80

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """The total, the bound, and a bar for each column."""
        loss = evidence.loss
        against = "the original" if evidence.private else "what the policy declares and the release shows"
        name = "normalized certainty penalty" if loss.measure == "ncp" else loss.measure
        yield Text(
            text=f"{percent(loss.total)} of the detail in the quasi-identifiers is lost, relative to {against}: 0 % if "
            f"nothing were generalized, 100 % if everything were * (measure: {name})."
        )
        if evidence.bound is not None:
            sentence = against_bound(loss.total, evidence.bound)
            yield Text(text=f"{sentence[0].upper()}{sentence[1:]}.", label="optimum")
        worst = sorted(loss.by_column.items(), key=lambda item: -item[1])[:_MOST]
        more = len(loss.by_column) - len(worst)
        title = f"Detail lost in each column{f', the {_MOST} most of {len(loss.by_column)}' if more else ''}"
        yield Picture.of(Bars(title, [name for name, _ in worst], {"": [share for _, share in worst]}))

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """The loss, as `measure` has it."""
        return asdict(evidence.loss) | ({"bound": evidence.bound} if evidence.private else {})
