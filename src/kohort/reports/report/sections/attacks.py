"""What attackers would achieve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kohort.reports.attacks import Attacks
from kohort.reports.report.document import Block, Command, Picture, Table, Text
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
            advice = one.mitigation.advice if one.succeeds and evidence.private else ""
            said = " ".join(filter(None, (one.sentence, one.sampled, advice)))
            yield Text(text=said, tone="note" if one.succeeds else "good", label=one.title)
        yield from (Picture.of(chart) for chart in found.charts(evidence.private))
        if evidence.private:
            yield from _to_paste(found)
        if found.not_run:
            yield Table(title="Attacks that were not tried", header=("attack", "why"), rows=_not_tried(found))

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """As `attack` has them."""
        return evidence.attacks.to_dict(evidence.private)


def _to_paste(found: Attacks) -> Iterator[Block]:
    """Lines for the policy against what succeeds; the same lines once."""
    against: dict[str, list[str]] = {}
    for one in found.succeeding:
        if one.mitigation.policy:
            against.setdefault(one.mitigation.policy, []).append(one.title)
    for policy, titles in against.items():
        yield Command(text=f"In the policy, against {names(titles)}", command=policy)


def _not_tried(found: Attacks) -> tuple[tuple[str, str], ...]:
    """The attacks with each reason; how to give what lacks is not for readers."""
    by_reason: dict[str, list[str]] = {}
    for one in found.not_run:
        by_reason.setdefault(one.reason.split("; give ")[0].rstrip("."), []).append(one.title)
    return tuple((names(titles), reason) for reason, titles in by_reason.items())
