"""Which column is what, and what is published as it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kohort.audit.words import are
from kohort.reports.report.document import Block, Table, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section
from kohort.reports.report.words import names, of_rows

_ROLES = {
    "quasi": ("quasi-identifier", "generalized"),
    "sensitive": ("sensitive", "as it is"),
    "insensitive": ("insensitive", "as it is"),
    "identifier": ("identifier", "keyed pseudonym"),
}


@SECTIONS.register("roles")
@dataclass(frozen=True)
class Roles(Section):
    """The published columns with their roles; those as they are with their uniqueness."""

    title = "Columns, and what is published as it is"
    place = 20

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """A table, then what the columns that are published as they are give away together."""
        policy, as_is = evidence.policy, evidence.verdict.as_is
        distinct = {} if as_is is None else as_is.columns
        rows = [
            (name, *_ROLES[policy.columns[name].role], f"{distinct[name]:,}" if name in distinct else "")
            for name in evidence.published.table.header
            if name in policy.columns
        ]
        yield Table(title="Published columns", header=("column", "role", "published", "values"), rows=tuple(rows))
        if evidence.private and policy.dropped:
            yield Text(text=f"Not published: {names(policy.dropped)}.")
        if as_is is None:
            return
        if as_is.columns:
            published = evidence.verdict.facts.rows_released
            what = "this value" if len(as_is.columns) == 1 else "these values"
            yield Text(
                text=f"Nothing is done to {names(tuple(as_is.columns))}. Somebody who knows {what} of a person may "
                f"find the row by that: {of_rows(as_is.unique, published)} {are(as_is.unique)} unique.",
                tone="note" if as_is.unique else "plain",
                label="as it is",
            )
        for name, cure in as_is.hidden.items():
            yield Text(text=f"{name} is * in every row: {cure}.", tone="note", label="hidden")

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """The role of every published column."""
        header = evidence.published.table.header
        return {name: evidence.policy.columns[name].role for name in header if name in evidence.policy.columns}
