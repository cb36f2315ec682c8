"""Comparing released rows with their original rows, a batch at a time.

Each cell is a small number, and what is asked of a pair of cells is whether the place of the original lies in the
stretch that the published one covers. Released rows may come from anywhere, so the places of original rows are held as
arrays: of as many columns and rows at once as there is room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kohort.audit.meaning.order import Order
from kohort.audit.read.dictionary import Ints
from kohort.audit.read.table import Table

Stretches: TypeAlias = tuple[Ints, Ints]
"""First and last place of each text; none if the first comes after the last."""


@dataclass(frozen=True)
class Question:
    """What is asked of a column that both tables have."""

    column: str
    first: Ints
    last: Ints
    """The stretch of each published text, by its number."""
    place: Ints
    """The place of each original text, by its number."""

    @classmethod
    def of(cls, column: str, stretches: Stretches, place: Ints) -> Question:
        """Make a question of a column; a stretch is empty when its first place comes after its last."""
        first, last = stretches
        empty = first > last
        first, last = np.where(empty, 1, first), np.where(empty, 0, last)
        # small numbers are compared in half of the time, and take less room
        kind = np.min_scalar_type(int(max(first.max(initial=1), last.max(initial=0), place.max(initial=0))))
        return cls(column, first.astype(kind), last.astype(kind), place.astype(kind))

    def outside(self, published: Ints, place: Ints) -> int:
        """Count the places that are outside of the stretches of the published texts with these numbers."""
        return int(np.count_nonzero((place < self.first[published]) | (place > self.last[published])))


def outside(release: Table, original: Table, order: Order | None, questions: Sequence[Question]) -> list[int]:
    """Count, for each question, the released rows whose original place is outside of their stretch.

    Parameters
    ----------
    order : Order or None
        Where released rows come from; None if both tables are in the same order.
    """
    if not questions:
        return []
    if order is None:
        return _in_order(release, original, questions)
    found = dict.fromkeys((question.column for question in questions), 0)
    for some in _groups(questions, original):
        columns = [question.column for question in some]
        for low, high in _windows(some, original):
            held = _held(original, some, low, high)
            for start, stop in release.batches():
                rows = order.rows(start, stop)
                published = release.codes(columns, start, stop)
                if high - low < original.rows:
                    here = (rows >= low) & (rows < high)
                    rows, published = rows[here] - low, [codes[here] for codes in published]
                for question, codes, places in zip(some, published, held, strict=True):
                    found[question.column] += question.outside(codes, places[rows])
    return list(found.values())


def _in_order(release: Table, original: Table, questions: Sequence[Question]) -> list[int]:
    columns = [question.column for question in questions]
    found = dict.fromkeys(columns, 0)
    for start, stop in release.batches():
        both = zip(questions, release.codes(columns, start, stop), original.codes(columns, start, stop), strict=True)
        for question, codes, there in both:
            found[question.column] += question.outside(codes, question.place[there])
    return list(found.values())


def _groups(questions: Sequence[Question], original: Table) -> Iterator[list[Question]]:
    """Questions whose places can be held at the same time; at least one."""
    group: list[Question] = []
    for question in questions:
        if group and _bytes([*group, question]) * original.rows > original.database.room:
            yield group
            group = []
        group.append(question)
    if group:
        yield group


def _windows(questions: Sequence[Question], original: Table) -> Iterator[tuple[int, int]]:
    """Stretches of original rows whose places can be held at the same time."""
    step = max(1, original.database.room // _bytes(questions))
    for low in range(0, original.rows, step):
        yield low, min(low + step, original.rows)


def _held(original: Table, questions: Sequence[Question], low: int, high: int) -> list[Ints]:
    """The places of the original rows from `low` to before `high`."""
    held: list[Ints] = [np.empty(high - low, question.place.dtype) for question in questions]
    columns = [question.column for question in questions]
    for start, stop in original.batches(low, high):
        for question, places, codes in zip(questions, held, original.codes(columns, start, stop), strict=True):
            places[start - low : stop - low] = question.place[codes]
    return held


def _bytes(questions: Sequence[Question]) -> int:
    return sum(question.place.dtype.itemsize for question in questions)
