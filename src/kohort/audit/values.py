"""Whether sensitive and insensitive cells are those of the original: of their own rows, or of any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kohort.audit.intervals import day, number
from kohort.audit.order import Order
from kohort.audit.published import unquoted
from kohort.audit.rowwise import Question, outside
from kohort.audit.table import Table
from kohort.policy import Policy

if TYPE_CHECKING:
    from kohort.policy.sections import Column

Canonical: TypeAlias = Callable[[str | None], Hashable]
"""Writes equal values in one way, whatever their texts."""


def not_original(
    policy: Policy, release: Table, original: Table, names: Sequence[str], order: Order | None, *, paired: bool
) -> dict[str, int]:
    """Count the cells of each column that are not those of their original rows, or of the original at all.

    Parameters
    ----------
    order : Order or None
        Where released rows come from; None if both tables are in the same order.
    paired : bool
        Whether rows are compared with their original rows.
    """
    alike = {name: comparison(policy, name) for name in names}
    if not paired:
        return {name: _surplus(release, original, name, alike[name]) for name in names}
    narrow = [name for name in names if release.is_narrow(name) and original.is_narrow(name)]
    questions = [same_value(release, original, name, policy) for name in narrow]
    counts = dict(zip(narrow, outside(release, original, order, questions), strict=True))
    counts |= {name: _differing(release, original, name, alike[name]) for name in names if name not in counts}
    return {name: counts[name] for name in names}


def same_value(release: Table, original: Table, name: str, policy: Policy) -> Question:
    """Ask whether two texts are the same value: equal values have a place of their own."""
    canonical = comparison(policy, name)
    places: dict[Hashable, int] = {}

    def place(text: str | None) -> int:
        return places.setdefault(canonical(text), len(places))

    there, released = (
        np.array([place(text) for text in table.dictionary(name).values]) for table in (original, release)
    )
    return Question.of(name, (released, released), there)


def _differing(release: Table, original: Table, name: str, canonical: Canonical) -> int:
    """Count the rows with another value than their original rows, for a column with too many texts to number them."""
    r, o = f"r_{release.columns[name]}", f"o_{original.columns[name]}"
    different = release.database.streamed(f"SELECT {r}, {o} FROM paired WHERE {r} IS DISTINCT FROM {o}")
    return sum(canonical(a) != canonical(b) for a, b in different)


def _surplus(release: Table, original: Table, name: str, canonical: Canonical) -> int:
    """Count the released values that the original does not have, or not as often."""
    surplus: Counter[Hashable] = Counter()
    for text, difference in release.differences(original, name):
        surplus[canonical(text)] += difference
    return sum(times for times in surplus.values() if times > 0)


def comparison(policy: Policy, name: str) -> Canonical:
    """Make the comparison of a column: ``1.0`` is ``1``, and midnight is the day."""
    canonical = _canonical_value(policy.columns[name])
    if policy.output.formulas != "neutralised":
        return canonical
    return lambda text: canonical(None if text is None else unquoted(text))


def _canonical_value(column: Column) -> Canonical:
    """Make the comparison of a column for texts without an apostrophe before formulas."""

    def canonical(text: str | None) -> Hashable:
        if text is None:
            return None
        value = day(text, column.format) if column.type == "date" else number(text)
        if value is not None:
            return value
        try:
            return datetime.fromisoformat(text) if text[4:5] == "-" else text
        except ValueError:
            return text

    return canonical
