"""Truth: whether every published value covers the original value that it stands for.

The distinct original values of a column are laid out on a line such that every published value covers
one stretch of it: numbers and days by size, labels by the leaf order of their taxonomy, codes by length
and text. Then "covers" is a comparison of whole numbers, row by row where the order of rows is known, and a
matching of stretches to places where it is not.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.audit.asked import AuditTable
from kohort.audit.checks.matching import unmatched
from kohort.audit.checks.rowwise import Question, Stretches
from kohort.audit.meaning.bulk import Floats, decimal, exact
from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import LAST_CHARACTER, Exact, Mask, Meaning, Node, PublishedColumn, Star
from kohort.audit.read.dictionary import Ints
from kohort.audit.read.table import Table
from kohort.audit.read.texts import Texts

_NOWHERE = (1, 0)


class Line:
    """The original values of a column at their places.

    Parameters
    ----------
    column : PublishedColumn
        How texts are read.
    originals : Texts
        Original texts, None for missing ones.

    Attributes
    ----------
    places : ndarray of int
        The place of every original text.
    length : int
        Number of places.
    """

    def __init__(self, column: PublishedColumn, originals: Texts) -> None:
        self._column = column
        floats = _floats(column, originals) if column.has_ends else None
        if floats is None:
            self._lay(originals)
        else:
            self._lay_floats(floats, originals)

    def _lay(self, originals: Texts) -> None:
        keys = [None if text is None else self._key(text) for text in originals]
        taxonomy = self._column.taxonomy
        known = {key for key in keys if key is not None} if taxonomy is None else range(taxonomy.n_leaves)
        self._sorted: Sequence[Any] | Floats = sorted(known)
        self._exact: Callable[[Any], Any] | None = None
        place = {key: number for number, key in enumerate(self._sorted)}
        self._end_at(len(self._sorted))
        self.places: NDArray[np.int64] = np.fromiter(
            (
                self.missing if text is None else self._strange if key is None else place[key]
                for text, key in zip(originals, keys, strict=True)
            ),
            np.int64,
            len(keys),
        )

    def _lay_floats(self, floats: Floats, originals: Texts) -> None:
        strange = np.isnan(floats)
        self._sorted = np.unique(floats[~strange])
        self._exact = decimal
        self._end_at(len(self._sorted))
        self.places = np.searchsorted(self._sorted, floats)
        self.places[strange] = self._strange
        for where, some in originals.batches():
            self.places[where][some.is_null().to_numpy()] = self.missing

    def _end_at(self, values: int) -> None:
        column = self._column
        # who is at a border or beyond it is published without an end on that side
        self._inner = (
            0 if column.bottom is None else self._place(column.bottom, after=True),
            values - 1 if column.top is None else self._place(column.top, after=False) - 1,
        )
        self._strange = values  # values that mean nothing: covered by '*' alone
        self.missing = values + 1
        self.length = values + 2

    def stretches(self, texts: Texts, *, missing_is_any: bool) -> Stretches:
        """Find the first and last place that every published text covers, None for a missing one."""
        first, last = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
        for where, some in texts.batches():
            rest = np.ones(len(some), bool)
            if isinstance(self._sorted, np.ndarray):
                found = self._column.ends(some)
                first[where] = np.maximum(np.searchsorted(self._sorted, found.lo), self._inner[0])
                last[where] = np.minimum(np.searchsorted(self._sorted, found.hi, "right") - 1, self._inner[1])
                rest = ~found.plain
            for number in np.flatnonzero(rest).tolist():
                first[where][number], last[where][number] = self._covers(some[number], missing_is_any=missing_is_any)
        return first, last

    def _covers(self, text: str | None, *, missing_is_any: bool) -> tuple[int, int]:
        """Find the first and last place that a published text covers; first > last for none."""
        if text is None:
            return (0, self.missing) if missing_is_any else (self.missing, self.missing)
        return self._stretch(self._column.read(text))

    def _stretch(self, meaning: Meaning | None) -> tuple[int, int]:
        match meaning:
            case Star():
                return 0, self.missing
            case Node(_, first, last):
                return first, last
            case Interval() if self._column.taxonomy is not None:
                return self._leaves(meaning)
            case Interval(lo, hi, lo_closed, hi_closed):
                first, last = self._place(lo, after=not lo_closed), self._place(hi, after=hi_closed) - 1
                first = max(first, self._inner[0]) if lo.is_finite() else first
                return first, min(last, self._inner[1]) if hi.is_finite() else last
            case Mask(prefix, length):
                last_key = (length, prefix + LAST_CHARACTER)
                return self._place((length, prefix), after=False), self._place(last_key, after=True) - 1
            case Exact(text):
                key = (len(text), text)
                return self._place(key, after=False), self._place(key, after=True) - 1
        return _NOWHERE

    def _place(self, key: Any, *, after: bool) -> int:
        return (bisect_right if after else bisect_left)(self._sorted, key, key=self._exact)

    def _leaves(self, interval: Interval) -> tuple[int, int]:
        """Return the leaves in an interval, if they are neighbours in the taxonomy."""
        assert self._column.taxonomy is not None
        values = map(self._column.value, self._column.taxonomy.leaf_labels)
        inside = [leaf for leaf, value in enumerate(values) if value is not None and interval.covers(value)]
        together = inside and inside[-1] - inside[0] == len(inside) - 1
        return (inside[0], inside[-1]) if together else _NOWHERE

    def _key(self, text: str) -> Any:
        if self._column.taxonomy is not None:
            leaf = int(self._column.taxonomy.codes([text])[0])
            return None if leaf < 0 else leaf
        if self._column.has_ends:
            return self._column.value(text)
        text = self._column.plain(text)
        return len(text), text


@dataclass(frozen=True)
class Covered:
    """How a column fares: cells that do not cover, row by row and in the best of all orders.

    `row_by_row` is None when rows cannot be paired; `by_chance` is what a random pairing would give.
    """

    row_by_row: int | None
    in_any_order: int
    by_chance: float


@dataclass(frozen=True)
class Lines:
    """What is asked of the quasi-identifiers, and how many places the line of each has."""

    questions: tuple[Question, ...]
    lengths: tuple[int, ...]


def lines_of(
    columns: Mapping[str, PublishedColumn], release: AuditTable, original: AuditTable, *, missing_is_any: bool
) -> Lines:
    """Lay out published columns and their originals.

    Parameters
    ----------
    columns : mapping
        How texts are read.
    release, original : AuditTable
        Both have the columns.
    missing_is_any : bool
        Whether a cell published as missing stands for any value, or for a missing one only.
    """
    questions, lengths = [], []
    for name, column in columns.items():
        line = Line(column, original.dictionary(name).values)
        stretches = line.stretches(release.dictionary(name).values, missing_is_any=missing_is_any)
        questions.append(Question.of(name, stretches, line.places))
        lengths.append(line.length)
    return Lines(tuple(questions), tuple(lengths))


def covered(
    lines: Lines, release: AuditTable, original: AuditTable, row_by_row: Sequence[int] | None = None
) -> dict[str, Covered]:
    """Compare published columns with their originals.

    Parameters
    ----------
    row_by_row : sequence of int, optional
        Cells of each column that do not cover those of their own original rows, where rows can be paired.
    """
    questions = lines.questions
    rows: Sequence[int | None] = [None] * len(questions) if row_by_row is None else row_by_row
    if row_by_row is not None and not any(row_by_row):
        # Every row covers its own, so nothing is left to ask; a matching takes long where hardly two texts are alike.
        return {question.column: Covered(0, 0, 0.0) for question in questions}
    found = {}
    for question, length, cells in zip(questions, lines.lengths, rows, strict=True):
        name = question.column
        demand = (question.first, question.last, release.dictionary(name).times)
        capacity = np.bincount(question.place, original.dictionary(name).times, length).astype(np.int64)
        found[name] = Covered(cells, unmatched(*demand, capacity), _by_chance(*demand, capacity))
    return found


def _floats(column: PublishedColumn, originals: Texts) -> Floats | None:
    """The values of original texts, NaN where there is none; None if floats do not tell all of them apart."""
    found = np.empty(len(originals))
    for where, some in originals.batches():
        found[where], others = column.values(some)
        for number, value in others:
            near = np.nan if value is None else exact(value)
            if near is None:
                return None
            found[where][number] = near
    return found


def pair(release: Table, original: Table, *, ordered: bool) -> None:
    """Make the view ``paired`` of released rows beside their originals: r_c0, o_c0 and so on."""
    cells = ["release.rowid AS released"]
    cells += [f"release.{sql} AS r_{sql}" for sql in release.viewed.values()]
    cells += [f"original.{sql} AS o_{sql}" for sql in original.viewed.values()]
    tables, joined = "release", "original.rowid = release.rowid"
    if ordered:
        tables, joined = "release JOIN row_order ON row_order.r = release.rowid", "original.rowid = row_order.o"
    release.database.rows(f"CREATE VIEW paired AS SELECT {', '.join(cells)} FROM {tables} JOIN original ON {joined}")


def _by_chance(first: Ints, last: Ints, cells: Ints, capacity: Ints) -> float:
    """Expect this many uncovered cells if released rows met original rows at random."""
    below = np.concatenate([[0], np.cumsum(capacity)])
    rows = int(below[-1])
    covered = below[np.maximum(first, last.astype(np.int64) + 1)] - below[first]
    return int((cells * (rows - covered)).sum()) / rows if rows else 0.0
