"""The questions that regulators ask, answered with figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kohort.audit.words import are, count
from kohort.privacy.base import Histogram
from kohort.reports.report.document import Block, Table, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.safe_harbor import findings
from kohort.reports.report.section import SECTIONS, Section
from kohort.reports.report.words import names, of_rows
from kohort.reports.words import percent

EMA_CLASS = 11
"""EMA's threshold of 0.09 is 1/11, rounded: classes of at least eleven."""


@SECTIONS.register("regulators")
@dataclass(frozen=True)
class Regulators(Section):
    """WP216, EMA and HIPAA, as far as data can answer; none of it is a statement about the law."""

    title = "What regulators ask"
    place = 100

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """An answer with its figures for each question, then the columns that Safe Harbor would not allow."""
        yield Text(
            text="Opinion 05/2014 of the European data protection authorities (WP216) asks three questions. The "
            "answers are figures for your judgement: whether a release is lawful depends on more than its data."
        )
        yield Text(text=_singling_out(evidence), label="singling out")
        yield Text(text=_linkability(evidence), label="linkability")
        yield Text(text=_inference(evidence), label="inference")
        if evidence.in_classes and evidence.verdict.facts.smallest_class:
            yield _ema(evidence, evidence.verdict.facts.smallest_class)
        yield from _safe_harbor(evidence)
        yield Text(
            text="An expert (164.514(b)(1)) must find the risk very small and document methods and results; no law "
            "gives a number. Risk, attacks and sizes of classes above are for that; what recipients know is for the "
            "expert to say.",
            label="HIPAA Expert Determination",
        )

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """The largest share of one sensitive value in a class, and what Safe Harbor would not allow."""
        found: dict[str, Any] = {"safe_harbor": [vars(one) for one in findings(evidence.published)]}
        smallest = evidence.verdict.facts.smallest_class
        if evidence.in_classes and smallest:
            found |= {"highest_risk": 1 / smallest, "ema_threshold_kept": smallest >= EMA_CLASS}
            found["inference"] = _certain(evidence)
        return found


def _singling_out(evidence: Evidence) -> str:
    facts, as_is = evidence.verdict.facts, evidence.verdict.as_is
    if facts.smallest_class:
        found = f"By the quasi-identifiers alone no row stands for fewer than {facts.smallest_class:,} records."
        if not evidence.verdict.passed:
            found = f"The smallest class has {count(facts.smallest_class, 'record')}."
    else:
        found = f"By the quasi-identifiers alone every row could be that of {evidence.k} records, as promised."
    if as_is is None or not as_is.columns:
        return f"{found} Nothing is published as it is."
    unique = of_rows(as_is.unique, facts.rows_released)
    return f"{found} In the columns that are published as they are, {unique} {are(as_is.unique)} unique."


def _linkability(evidence: Evidence) -> str:
    pseudonyms = [name for name in evidence.policy.pseudonyms if name in evidence.published.table.header]
    found = "k-anonymity does not prevent that records of one person are linked by what is published as it is."
    if pseudonyms:
        found += f" The pseudonyms in {names(pseudonyms)} link all records of a person."
    checked = [check for check in evidence.verdict.checks if check.name in ("intersection", "m-invariance")]
    if not checked:
        return f"{found} Whether earlier releases can be linked with this one was not checked."
    return f"{found} With earlier releases: {checked[0].sentence}"


def _certain(evidence: Evidence) -> dict[str, dict[str, float | int]]:
    """For each sensitive column: the largest share of one value in a class, and the rows whose class has one value."""
    published, sensitive = evidence.published, evidence.published.sensitive
    if sensitive is None or not evidence.in_classes:
        return {}
    kept = ~published.suppressed
    labels = np.unique(published.labels[kept], return_inverse=True)[1]
    found: dict[str, dict[str, float | int]] = {}
    for place, axis in enumerate(sensitive.axes):
        classes = Histogram.of(labels, sensitive.array[kept, place])
        alone = classes.distinct == 1
        found[axis.name] = {
            "largest_share": float((classes.largest / classes.sizes).max(initial=0.0)),
            "classes_of_one_value": int(alone.sum()),
            "rows_in_them": int(classes.sizes[alone].sum()),
        }
    return found


def _inference(evidence: Evidence) -> str:
    if not evidence.in_classes:
        return "Classes alone do not distinguish the rows of a person here; see the attacks."
    found = _certain(evidence)
    if not found:
        return "No column is declared as sensitive, so nothing says what must not be inferred."
    sentences = [
        f"{name}: in the clearest class {percent(float(one['largest_share']))} have the same value, and "
        f"{of_rows(int(one['rows_in_them']), evidence.published.rows)} {are(int(one['rows_in_them']))} in classes that "
        "have a single one."
        for name, one in found.items()
    ]
    models = ", ".join(str(model["model"]) for model in evidence.policy.privacy.models)
    return " ".join(sentences) + (
        f" Promised against this: {models}." if models else " No model is promised against it."
    )


def _ema(evidence: Evidence, smallest: int) -> Text:
    kept = smallest >= EMA_CLASS
    sizes = evidence.published.partition.sizes
    under = int(sizes[sizes < EMA_CLASS].sum())
    text = (
        f"The highest risk is {1 / smallest:.4f}; the threshold of EMA's Policy 0070 and of Health Canada for "
        f"publication is 0.09, that is classes of at least {EMA_CLASS}. "
    )
    text += "It is kept." if kept else f"It is not kept: {of_rows(under, int(sizes.sum()))} are in smaller classes."
    return Text(text=text, tone="good" if kept else "note", label="EMA 0.09")


def _safe_harbor(evidence: Evidence) -> Iterator[Block]:
    found = findings(evidence.published)
    label = "HIPAA Safe Harbor"
    if not found:
        yield Text(
            text="No published column looks like one of the eighteen identifiers; that proves nothing.", label=label
        )
        return
    yield Text(
        text=f"As it is, this is no Safe Harbor release (164.514(b)(2)): {count(len(found), 'finding')} by names and "
        "forms of columns. A release may rest on Expert Determination instead.",
        tone="note",
        label=label,
    )
    rows = tuple((one.column, one.why) for one in found)
    yield Table(title="What Safe Harbor would not allow", header=("column", "why"), rows=rows)
