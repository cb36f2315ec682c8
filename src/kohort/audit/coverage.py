"""Truth: whether every published value covers the original value that it stands for.

The distinct original values of a column are laid out on a line such that every published value covers
one stretch of it: numbers and days by size, labels by the leaf order of their taxonomy, codes by length
and text. Then "covers" is a comparison of whole numbers, row by row where the order of rows is known, and a
matching of stretches to places where it is not.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kohort.audit.intervals import Interval
from kohort.audit.matching import unmatched
from kohort.audit.order import Order
from kohort.audit.published import Exact, Mask, Meaning, Node, PublishedColumn, Star
from kohort.audit.rowwise import Question, outside
from kohort.audit.table import Table

_NOWHERE = (1, 0)
_LAST_CHARACTER = chr(0x10FFFF)


class Line:
    """The original values of a column at their places.

    Parameters
    ----------
    column : PublishedColumn
        How texts are read.
    originals : iterable of str
        Distinct original texts, missing ones left out.
    """

    def __init__(self, column: PublishedColumn, originals: Iterable[str]) -> None:
        self._column = column
        keys = {text: self._key(text) for text in originals}
        if column.taxonomy is not None:
            self._sorted: list[Any] = list(range(column.taxonomy.n_leaves))
        else:
            self._sorted = sorted({key for key in keys.values() if key is not None})
        place = {key: number for number, key in enumerate(self._sorted)}
        strange = len(self._sorted)  # values that mean nothing: covered by '*' alone
        self.places: dict[str, int] = {text: strange if key is None else place[key] for text, key in keys.items()}
        self.missing = strange + 1
        self.length = strange + 2

    def stretch(self, text: str | None, *, missing_is_any: bool) -> tuple[int, int]:
        """Return the first and last place that a published text covers; first > last for none."""
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
                first = (bisect_left if lo_closed else bisect_right)(self._sorted, lo)
                return first, (bisect_right if hi_closed else bisect_left)(self._sorted, hi) - 1
            case Mask(prefix, length):
                first = bisect_left(self._sorted, (length, prefix))
                return first, bisect_right(self._sorted, (length, prefix + _LAST_CHARACTER)) - 1
            case Exact(text):
                key = (len(text), text)
                return bisect_left(self._sorted, key), bisect_right(self._sorted, key) - 1
        return _NOWHERE

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


def covered(
    columns: Mapping[str, PublishedColumn],
    release: Table,
    original: Table,
    *,
    paired: bool,
    order: Order | None,
    missing_is_any: bool,
) -> dict[str, Covered]:
    """Compare published columns with their originals.

    Parameters
    ----------
    columns : mapping
        How texts are read.
    release, original : Table
        Both have the columns.
    paired : bool
        Whether each released row has an original one: by the order, or in the same place.
    missing_is_any : bool
        Whether a cell published as missing stands for any value, or for a missing one only.
    """
    questions, demands, capacities = [], [], []
    for name, column in columns.items():
        published, there = release.dictionary(name), original.dictionary(name)
        line = Line(column, (text for text in there.values if text is not None))
        stretches = [line.stretch(text, missing_is_any=missing_is_any) for text in published.values]
        places = [line.missing if text is None else line.places[text] for text in there.values]
        questions.append(Question.of(name, stretches, places))
        capacities.append(np.bincount(places, there.times, line.length).astype(np.int64).tolist())
        demand: Counter[tuple[int, int]] = Counter()
        for stretch, count in zip(stretches, published.times.tolist(), strict=True):
            demand[stretch] += count
        demands.append(demand)
    rows = outside(release, original, order, questions) if paired else [None] * len(questions)
    if paired and not any(rows):
        # Every row covers its own, so nothing is left to ask; a matching takes long where hardly two texts are alike.
        return {name: Covered(0, 0, 0.0) for name in columns}
    return {
        name: Covered(cells, unmatched(demand, capacity), _by_chance(demand, capacity))
        for name, cells, demand, capacity in zip(columns, rows, demands, capacities, strict=True)
    }


def pair(release: Table, original: Table, *, ordered: bool) -> None:
    """Make the view ``paired`` of released rows beside their originals: r_c0, o_c0 and so on."""
    cells = ["release.rowid AS released"]
    cells += [f"release.{sql} AS r_{sql}" for sql in release.columns.values()]
    cells += [f"original.{sql} AS o_{sql}" for sql in original.columns.values()]
    tables, joined = "release", "original.rowid = release.rowid"
    if ordered:
        tables, joined = "release JOIN row_order ON row_order.r = release.rowid", "original.rowid = row_order.o"
    release.database.rows(f"CREATE VIEW paired AS SELECT {', '.join(cells)} FROM {tables} JOIN original ON {joined}")


def _by_chance(demand: Mapping[tuple[int, int], int], capacity: list[int]) -> float:
    """Expect this many uncovered cells if released rows met original rows at random."""
    below = np.concatenate([[0], np.cumsum(capacity)])
    rows = int(below[-1])
    misses = sum(
        cells * (rows - int(below[max(first, last + 1)] - below[first])) for (first, last), cells in demand.items()
    )
    return misses / rows if rows else 0.0
