"""What no such report can say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kohort.reports.report.document import Block, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section


@SECTIONS.register("caveats")
@dataclass(frozen=True)
class Caveats(Section):
    """The limits of k-anonymity that concern this release."""

    title = "What this does not mean"
    place = 110

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """A sentence or two for each."""
        for label, text in _caveats(evidence):
            yield Text(text=text, label=label)


def _caveats(evidence: Evidence) -> Iterator[tuple[str, str]]:
    columns = evidence.policy.columns
    yield (
        "declared columns",
        "The promise is about the columns that were declared as quasi-identifiers. What an outsider can know is a "
        "judgement of people, not of a program.",
    )
    tight = [name for name in evidence.policy.quasi_identifiers if columns[name].snap is None]
    if tight:
        yield (
            "downcoding",
            "Descriptions are as tight as they can be: an end of an interval is somebody's value, and a label was the "
            "lowest that fits. Knowing the method, one can sometimes infer finer values than are shown (Cohen 2022).",
        )
    yield (
        "singling out",
        "A tight description can isolate a person with a probability that does not vanish (Cohen and Nissim 2020): "
        "k-anonymity is not anonymity in the sense of the GDPR.",
    )
    yield (
        "composition",
        "Two releases about the same people can be intersected. A ledger finds that for releases that it knows, and "
        "only for those.",
    )
    yield (
        "not differential privacy",
        "k-anonymity is a property of a table. It gives no bound on what somebody with any other knowledge can learn.",
    )
    yield (
        "membership",
        "That a person is in the table at all is not hidden.",
    )
