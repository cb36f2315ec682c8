"""Whether sensitive and insensitive cells are those of the original: of their own rows, or of any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kohort.audit.asked import AuditTable
from kohort.audit.checks.rowwise import Question, outside
from kohort.audit.meaning.intervals import day, number
from kohort.audit.meaning.notation import plain_number
from kohort.audit.meaning.order import NAME as ORDER
from kohort.audit.meaning.order import Order
from kohort.audit.meaning.published import unquoted
from kohort.audit.read.table import Table
from kohort.policy import Policy

if TYPE_CHECKING:
    from kohort.policy.notation import Notation
    from kohort.policy.sections import Column

_FINER = re.compile(r"\.\d{6}(\d+)", re.ASCII)
"""Digits of a second that come after microseconds."""
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[Tt ].*)?", re.ASCII)
"""A day, or a moment as RFC 3339 has it; Python would take any letter between day and time."""
_MANY = 24
"""Columns from which on texts are compared before their dictionaries are made."""

Canonical: TypeAlias = Callable[[str | None], Hashable]
"""Writes equal values in one way, whatever their texts."""


def differing(
    policy: Policy, release: Table, original: Table, names: Sequence[str], order: Order | None
) -> dict[str, int]:
    """Count the cells of each column that are not those of their original rows.

    Parameters
    ----------
    order : Order or None
        Where released rows come from; None if both tables are in the same order.
    """
    ordered = order is not None
    # most cells are written as the original has them, and then nothing has to be read as a value
    if ordered and len(names) <= _MANY:
        equal = _equal_narrow(release, original, names, order)
    else:
        equal = _equal(release, original, names, ordered=ordered)
    counts = dict.fromkeys(equal, 0)
    narrow = [name for name in names if name not in equal and _are_narrow(release, original, name)]
    questions = [same_value(release, original, name, policy) for name in narrow]
    counts |= zip(narrow, outside(release, original, order, questions), strict=True)
    for name in names:
        if name not in counts:
            counts[name] = _differing(release, original, name, comparison(policy, name), ordered=ordered)
    return {name: counts[name] for name in names}


def _are_narrow(release: Table, original: Table, name: str) -> bool:
    return release.is_narrow(name) and original.is_narrow(name)


def _equal_narrow(release: Table, original: Table, names: Sequence[str], order: Order | None) -> set[str]:
    """Of the columns with few texts those whose rows have the texts of their original rows."""
    narrow = [name for name in names if _are_narrow(release, original, name)]
    different = outside(release, original, order, [_same_text(release, original, name) for name in narrow])
    return {name for name, cells in zip(narrow, different, strict=True) if not cells}


def _equal(release: Table, original: Table, names: Sequence[str], *, ordered: bool) -> set[str]:
    """The columns whose rows have the texts of their original rows; nothing more is to be asked of them."""
    found: set[str] = set()
    for some in release.blocks(names):
        different = _different(release, original, some, ordered=ordered)
        found |= {name for name, cells in zip(some, different, strict=True) if not cells}
    return found


def _different(release: Table, original: Table, names: Sequence[str], *, ordered: bool) -> Sequence[int]:
    """Count the rows of each column that have another text than their original row."""
    cells = ", ".join(f"count(*) FILTER (r.c{place} IS DISTINCT FROM o.c{place})" for place in range(len(names)))
    if not ordered:
        # rows with the same number come by at the same time, so none has to be looked for; counted in case they do not
        together = " POSITIONAL JOIN ".join(_sides(release, original, names))
        astray = "count(*) FILTER (r.place IS DISTINCT FROM o.place)"
        [(others, *different)] = release.database.rows(f"SELECT {astray}, {cells} FROM {together}")
        if not others:
            return different
    beside = _beside(release, original, names, ordered=ordered)
    [counted] = release.database.rows(f"SELECT {cells} FROM {beside}")
    return counted


def _sides(release: Table, original: Table, names: Sequence[str]) -> tuple[str, str]:
    """SQL of released rows and of original rows: c0 and so on are the texts of the columns."""

    def side(table: Table, called: str) -> str:
        texts = ", ".join(f"{table.text(name)} AS c{place}" for place, name in enumerate(names))
        return f"(SELECT {table.row} AS place, {texts} FROM {table.relation}) AS {called}"

    return side(release, "r"), side(original, "o")


def _beside(release: Table, original: Table, names: Sequence[str], *, ordered: bool) -> str:
    """SQL of released rows beside their original rows: r.c0, o.c0 and so on are the texts of the columns."""
    released, there = _sides(release, original, names)
    if not ordered:
        return f"{released} JOIN {there} ON o.place = r.place"
    return f"{released} JOIN {ORDER} AS matched ON matched.r = r.place JOIN {there} ON o.place = matched.o"


def _same_text(release: Table, original: Table, name: str) -> Question:
    """Ask whether two texts are the same to the letter."""
    import polars as pl

    there, released = (table.dictionary(name).values.whole() for table in (original, release))
    both = pl.DataFrame({"text": pl.concat([there, released])}).with_row_index()
    places = both.select(pl.col("index").first().over("text")).to_series().to_numpy()
    return Question.of(name, (places[len(there) :], places[len(there) :]), places[: len(there)])


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


def _differing(release: Table, original: Table, name: str, canonical: Canonical, *, ordered: bool) -> int:
    """Count the rows with another value than their original rows, for a column with too many texts to number them."""
    beside = _beside(release, original, [name], ordered=ordered)
    different = release.database.streamed(f"SELECT r.c0, o.c0 FROM {beside} WHERE r.c0 IS DISTINCT FROM o.c0")
    return sum(canonical(a) != canonical(b) for a, b in different)


def surplus(policy: Policy, release: AuditTable, original: AuditTable, names: Sequence[str]) -> dict[str, int]:
    """Count the cells of each column whose values the original does not have, or not as often; in any order of rows."""
    alike = {name: comparison(policy, name) for name in names}
    found: dict[str, Counter[Hashable]] = {name: Counter() for name in names}
    for name, text, difference in release.differences(original, names):
        found[name][alike[name](text)] += difference
    return {name: sum(times for times in values.values() if times > 0) for name, values in found.items()}


def comparison(policy: Policy, name: str) -> Canonical:
    """Make the comparison of a column: ``1.0`` is ``1``, and midnight is the day."""
    canonical = _canonical_value(policy.columns[name], policy.notation(name))
    if policy.output.formulas != "neutralised":
        return canonical
    return lambda text: canonical(None if text is None else unquoted(text))


def _canonical_value(column: Column, notation: Notation | None) -> Canonical:
    """Make the comparison of a column for texts without an apostrophe before formulas."""

    def canonical(text: str | None) -> Hashable:
        if text is None or text[:1].isspace() or text[-1:].isspace():
            return text  # a blank beside a number is a change
        plain = text if notation is None else plain_number(text, notation) or text
        value = day(text, column.format, timed=False) if column.format is not None else number(plain)
        if value is not None:
            return value
        try:
            # beyond microseconds Python would drop digits
            finer = _FINER.search(text)
            moment = datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else text
            return (moment, finer[1].rstrip("0")) if finer and finer[1].strip("0") else moment
        except ValueError:
            return text

    return canonical
