"""Earlier releases about the same people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kohort.audit.words import count
from kohort.reports.report.document import Block, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section

_CHECKS = ("intersection", "m-invariance")


@SECTIONS.register("ledger")
@dataclass(frozen=True)
class Releases(Section):
    """Whether somebody looked at what this release reveals together with others."""

    title = "Together with other releases"
    place = 90

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """What was compared; or that nothing was."""
        checks = [check for check in evidence.verdict.checks if check.name in _CHECKS]
        if not checks:
            yield Text(
                text="Earlier releases were not looked at: no ledger was given. Two releases that each keep their "
                "promise may together reveal what neither does.",
                tone="note",
            )
            return
        if evidence.private and evidence.recorded is not None:
            yield Text(text=f"Compared with {count(evidence.recorded, 'release')} in the ledger.")
        for check in checks:
            yield Text(text=check.sentence, tone="good" if check.passed else "bad", label=check.name)

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """Whether each check passed."""
        return {check.name: check.passed for check in evidence.verdict.checks if check.name in _CHECKS}
