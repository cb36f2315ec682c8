"""What was promised, and what holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kohort.audit.verdict import Check
from kohort.audit.words import count, listed
from kohort.reports.report.document import Block, Text, Tone
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section
from kohort.reports.words import percent

_MEANS = {
    "classes": "every combination of published quasi-identifiers occurs in at least {k} rows",
    "matchings": "every record could be at least {k} rows, each in a perfect matching of records and rows",
}


@SECTIONS.register("promise")
@dataclass(frozen=True)
class Promise(Section):
    """The promise in words, then every check with its answer."""

    title = "What was promised, and what holds"
    place = 10

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """The sentences of the verdict, as they are."""
        yield Text(text=self._promised(evidence))
        for check in evidence.verdict.checks:
            yield Text(text=check.sentence, tone=tone_of(check), label=check.name)
        if not evidence.compared:
            yield Text(
                text="Whether published values are true was not checked for this report: that needs the original.",
                tone="note",
                label="truth",
            )

    def _promised(self, evidence: Evidence) -> str:
        privacy = evidence.policy.privacy
        parts = [f"k = {evidence.k}: " + _MEANS[privacy.anonymity].format(k=evidence.k)]
        if privacy.person is not None:
            parts.append(f"k counts persons, whom {listed([privacy.person])} names")
        parts += [_model(model) for model in privacy.models]
        if privacy.suppression_limit < 1:
            limit = f"at most {percent(privacy.suppression_limit)} of the records are suppressed"
            parts.append(limit if privacy.suppression_limit else "no record is suppressed")
        return f"Promised: {'; '.join(parts)}. {count(len(evidence.verdict.checks), 'check')} of the written file:"

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """The verdict."""
        return evidence.verdict.to_dict()


def tone_of(check: Check) -> Tone:
    """Whether a check says that something holds, does not, or is for somebody to decide."""
    if check.name == "repeats" or check.undecided:
        return "note"
    return "good" if check.passed else "bad"


def _model(model: dict[str, Any]) -> str:
    """A model with its parameters, but for the values that it lists."""
    shown = [f"{key} = {value}" for key, value in model.items() if key not in ("model", "values", "column", "columns")]
    about = model.get("column") or ", ".join(model.get("columns", ()))
    parameters = f" ({', '.join(shown)})" if shown else ""
    return f"{model['model']}{f' of {about}' if about else ''}{parameters}"
