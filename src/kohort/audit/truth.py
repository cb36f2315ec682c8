"""The checks of what is published against the original, and of ends against their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kohort.audit.case import Case, count, listed
from kohort.audit.coverage import Covered, covered
from kohort.audit.intervals import Interval, day, number
from kohort.audit.published import STAR, PublishedColumn, unquoted
from kohort.audit.rowwise import Question, outside
from kohort.audit.table import Table
from kohort.audit.verdict import Check
from kohort.policy import Policy

if TYPE_CHECKING:
    from kohort.policy.sections import Column

_ENOUGH = 30
"""Uncovered cells that chance must give before fewer of them can speak for the order of the file."""


def rows(case: Case) -> Check | None:
    """Ask whether the release has no more rows than the original."""
    if case.original is None:
        return None
    released, there = case.release.rows, case.original.rows
    figures = {"released": released, "original": there}
    if released > there:
        more = count(released - there, "row")
        return Check("rows", False, f"the release has {more} more than the original.", figures)
    sentence = f"{released:,} of {count(there, 'original row')} {'is' if released == 1 else 'are'} released."
    return Check("rows", True, sentence, figures)


def coverage(case: Case) -> Check | None:
    """Ask whether every published quasi-identifier covers the original value."""
    if case.original is None:
        return None
    unknown = [name for name in case.columns if name not in case.original.columns]
    if unknown:
        are = "is" if len(unknown) == 1 else "are"
        sentence = f"coverage cannot be checked, as {listed(unknown)} {are} not in the original."
        return Check("coverage", False, sentence)
    privacy, texts = case.policy.privacy, case.policy.input.missing
    # a '*' that the policy reads as missing still says "any value"
    missing_is_any = privacy.missing == "wildcard" or STAR in texts
    found = covered(
        case.columns,
        case.release,
        case.original,
        paired=case.is_paired,
        order=case.order,
        missing_is_any=missing_is_any,
    )
    by_row = case.order_given or _in_original_order(list(found.values()))
    figures: dict[str, int | float | str] = {"method": "row by row" if by_row else "in any order"}
    sentences, total = [], case.release.rows
    for name, column in found.items():
        cells = column.row_by_row if by_row and column.row_by_row is not None else column.in_any_order
        figures[f"not_covered.{name}"] = cells
        if cells:
            do = "does" if cells == 1 else "do"
            share = f"{cells:,} of {count(total, 'published value')}"
            sentences.append(f"column {name!r}: {share} {do} not cover the original value")
    if by_row:
        fine = "every published value covers the original, row by row"
    else:
        fine = "every published value covers an original of its own, column by column in any order of rows"
    return Check("coverage", not sentences, f"{'; '.join(sentences) or fine}.", figures)


def _in_original_order(found: list[Covered]) -> bool:
    """Judge whether the rows of the file plainly stand in the order of the original.

    They do if nothing is uncovered row by row, or far less than a random order of rows would leave.
    Only then are uncovered cells, row by row, a fault of the values and not of the order.
    """
    uncovered = [column.row_by_row for column in found if column.row_by_row is not None]
    if len(uncovered) < len(found):
        return False
    by_chance = sum(column.by_chance for column in found)
    return sum(uncovered) == 0 or (by_chance >= _ENOUGH and sum(uncovered) < by_chance / 5)


def values(case: Case) -> Check | None:
    """Ask whether sensitive and insensitive columns are those of the original."""
    if case.original is None:
        return None
    published = case.policy.having_role("sensitive", "insensitive")
    names = [name for name in published if name in case.release.columns]
    unknown = [name for name in names if name not in case.original.columns]
    if unknown:
        are = "is" if len(unknown) == 1 else "are"
        sentence = f"values cannot be checked, as {listed(unknown)} {are} not in the original."
        return Check("values", False, sentence)
    sentences = []
    figures: dict[str, int | float | str] = {"method": "row by row" if case.order_given else "in any order"}
    for name, cells in _not_original(case, case.original, names).items():
        figures[f"not_original.{name}"] = cells
        if cells:
            are = "is not one" if cells == 1 else "are not those"
            share = f"{cells:,} of {count(case.release.rows, 'published value')}"
            sentences.append(f"column {name!r}: {share} {are} of the original")
    sentence = "; ".join(sentences) or "the other columns hold the values of the original"
    return Check("values", not sentences, f"{sentence}.", figures)


Canonical: TypeAlias = Callable[[str | None], Hashable]
"""Writes equal values in one way, whatever their texts."""


def _not_original(case: Case, original: Table, names: list[str]) -> dict[str, int]:
    """Count the cells of each column that are not those of their original rows, or of the original at all."""
    release, alike = case.release, {name: comparison(case.policy, name) for name in names}
    if case.order is None:
        return {name: _surplus(release, original, name, alike[name]) for name in names}
    narrow = [name for name in names if release.is_narrow(name) and original.is_narrow(name)]
    questions = [_same_value(release, original, name, alike[name]) for name in narrow]
    counts = dict(zip(narrow, outside(release, original, case.order, questions), strict=True))
    counts |= {name: _differing(release, original, name, alike[name]) for name in names if name not in counts}
    return {name: counts[name] for name in names}


def _same_value(release: Table, original: Table, name: str, canonical: Canonical) -> Question:
    """Ask whether two texts are the same value: equal values have a place of their own."""
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
    canonical = canonical_value(policy.columns[name])
    if policy.output.formulas != "neutralised":
        return canonical
    return lambda text: canonical(None if text is None else unquoted(text))


def canonical_value(column: Column) -> Canonical:
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


def bounds(case: Case) -> Check | None:
    """Ask whether typed ends say exactly what the published interval says."""
    asked = {name: case.bounds(name) for name, column in case.columns.items() if column.has_ends}
    if not any(asked.values()):
        return None
    sentences: list[str] = []
    figures: dict[str, int | float | str] = {}
    for name, ends in asked.items():
        for bound, end in ends.items():
            wrong = _wrong_ends(case.release, case.columns[name], bound, end)
            if wrong:
                which = "lower" if end == "lo" else "upper"
                do = "does" if wrong == 1 else "do"
                sentences.append(
                    f"column {bound!r}: {count(wrong, 'row')} {do} not hold the {which} end of the interval"
                )
            figures[f"wrong.{bound}"] = wrong
    sentence = "; ".join(sentences) or "the typed ends are those of the published intervals"
    return Check("bounds", not sentences, f"{sentence}.", figures)


def _wrong_ends(release: Table, column: PublishedColumn, bound: str, end: str) -> int:
    name, sql = release.columns[column.name], release.columns[bound]
    seen: dict[str | None, str | None] = {}
    wrong = 0
    for text, given, times in release.database.streamed(
        f"SELECT {name}, {sql}, count(*) FROM release GROUP BY ALL ORDER BY ALL"
    ):
        meaning = None if text is None else column.read(text)
        wanted = getattr(meaning, end) if isinstance(meaning, Interval) else None
        if wanted is not None and not wanted.is_finite():
            wanted = None
        value = None if given is None else column.value(given)
        # two ways to write one end would tell apart rows that the interval makes alike
        alike = seen.setdefault(text, given) == given
        if value != wanted or (given is not None and value is None) or not alike:
            wrong += times
    return wrong
