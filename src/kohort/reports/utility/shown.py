"""The distribution of a column as it may be shown: no bar of fewer than k records, no label of a value they have.

Numbers and dates are put into bins of a round width; the first and the last are open, and hold at least k records. A
bin with fewer is joined with the next. Of a category, the most frequent values are shown, the others together; where
these would be most, the groups of its hierarchy are shown instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import TreeAxis
from kohort.reports.ranges import Floats, Kind, Ranges
from kohort.reports.utility.columns import Column

BINS = 16
VALUES = 10
ENOUGH = 0.5
"""Share of the records that is to have a bar of its own; with less, larger groups are shown."""
_EPOCH = date(1970, 1, 1).toordinal()
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240)
OTHERS, MISSING = "other values", "missing"


@dataclass(frozen=True)
class Shown:
    """Shares of the records by bin or value."""

    column: str
    kind: Kind
    labels: tuple[str, ...]
    release: tuple[float, ...]
    """Share of the rows, as far as they may stand for it."""
    original: tuple[float, ...] | None
    """Share of the records; None where only the release is at hand."""
    edges: tuple[float, ...] | None
    """Of numbers and dates (days since 1970): the ends of the bins; those of the first and the last are drawn only."""


def shown(column: Column, k: int, *, private: bool) -> Shown | None:
    """How a column is distributed, in both tables if what is private may be shown; None if there is nothing to show."""
    if private and column.values is None:
        return None
    cut = _numbers(column, k, private=private) if column.is_number else _categories(column, k, private=private)
    if cut is None:
        return None
    labels, release, original, edges = cut
    before = None if original is None else _shares(original)
    return Shown(column.name, column.kind, tuple(labels), _shares(release), before, edges)


def _shares(records: Floats) -> tuple[float, ...]:
    """Shares of those that are shown: how many others there are may be fewer than k."""
    total = float(records.sum())
    return tuple(float(one) / total if total > 0 else 0.0 for one in records)


_Cut = tuple[Sequence[str], Floats, Floats | None, tuple[float, ...] | None]


# -- numbers and dates -----------------------------------------------------------------------------


def _numbers(column: Column, k: int, *, private: bool) -> _Cut | None:
    there = ~column.shown.missing
    ranges, weights = column.shown.of(there), column.times[there].astype(np.float64)
    guide, held = column.held if private else (ranges, weights)
    edges = _edges(guide, held, k, is_date=column.kind == "date")
    if edges is None:
        return None
    edges = _joined(edges, guide, held, k)
    inner = edges[1:-1] - (1 if ranges.whole else 0)
    release = _by_bin(ranges, weights, inner)
    original = _by_bin(guide, held, inner) if private else None
    labels = _bin_labels(edges, whole=ranges.whole, is_date=column.kind == "date")
    return labels, release, original, tuple(edges.tolist())


def _by_bin(ranges: Ranges, weights: Floats, inner: Floats) -> Floats:
    reached = [float(weights @ ranges.below(float(edge))) for edge in inner]
    return np.diff([0.0, *reached, float(weights.sum())])


def _edges(guide: Ranges, held: Floats, k: int, *, is_date: bool) -> Floats | None:
    """Ends of bins of a round width between what at least k records are below, and as many above."""
    if held.sum() < 2 * k:
        return None
    low, high = _kth(guide.low, held, k), -_kth(-guide.high, held, k)
    if not low < high:
        return None
    if is_date:
        return _round_days(low, high)
    step = _round_step((high - low) / BINS, whole=guide.whole)
    return np.asarray(np.arange(ceil(low / step) - 1, floor(high / step + 0.5) + 2) * step, np.float64)


def _round_days(low: float, high: float) -> Floats:
    """Days, weeks, or the first days of months, quarters, years, decades."""
    least = (high - low) / BINS
    if least <= 7:
        step = 1 if least <= 1 else 7
        return np.asarray(np.arange(ceil(low / step) - 1, floor(high / step + 0.5) + 2) * step, np.float64)
    months = next((some for some in _MONTHS if some * 30.4 >= least), _MONTHS[-1] * ceil(least / 30.4 / _MONTHS[-1]))
    first, last = (date.fromordinal(_EPOCH + int(day)) for day in (low, high))
    begin, end = ((one.year * 12 + one.month - 1) // months for one in (first, last))
    marks = [max(mark * months, 12) for mark in range(begin, end + 2)]
    return np.array([date(mark // 12, mark % 12 + 1, 1).toordinal() - _EPOCH for mark in marks], float)


def _kth(values: Floats, held: Floats, k: int) -> float:
    order = np.argsort(values, kind="stable")
    place = min(int(np.searchsorted(held[order].cumsum(), k)), len(order) - 1)
    return float(values[order][place])


def _round_step(step: float, *, whole: bool) -> float:
    """The least round number that is not smaller."""
    power = 10.0 ** floor(log10(step))
    found = next(power * one for one in (1, 2, 5, 10) if power * one >= step * (1 - 1e-9))
    return max(found, 1.0) if whole else found


def _joined(edges: Floats, guide: Ranges, held: Floats, k: int) -> Floats:
    """Leave out edges until every bin has at least k records."""
    found = edges.tolist()
    while len(found) > 2:
        inner = np.array(found[1:-1]) - (1 if guide.whole else 0)
        records = _by_bin(guide, held, inner)
        least = int(np.argmin(records))
        if records[least] >= k - 1e-9:
            break
        left = records[least - 1] if least > 0 else np.inf
        right = records[least + 1] if least + 1 < len(records) else np.inf
        del found[least if left <= right else least + 1]
    return np.array(found)


def _bin_labels(edges: Floats, *, whole: bool, is_date: bool) -> list[str]:
    ends = [_label(edge, is_date=is_date) for edge in edges]
    last = [_label(edge - whole, is_date=is_date) for edge in edges]
    if len(edges) == 2:
        return ["all"]
    middle = [
        first if first == until else f"{first} to {until}" for first, until in zip(ends[1:-2], last[2:-1], strict=True)
    ]
    return [f"up to {last[1]}" if whole else f"up to {ends[1]}", *middle, f"from {ends[-2]}"]


def _label(edge: float, *, is_date: bool) -> str:
    if is_date:
        return date.fromordinal(_EPOCH + int(edge)).isoformat()
    return f"{edge:,.10g}"


# -- categories ------------------------------------------------------------------------------------


def _categories(column: Column, k: int, *, private: bool) -> _Cut | None:
    there = ~column.shown.missing
    ranges, rows = column.shown.of(there), column.times[there].astype(np.float64)
    size = 1 + int(max(ranges.high.max(initial=-1), column.present.max(initial=-1) if private else -1))
    if size < 1:
        return None
    held = np.bincount(column.present.astype(np.int64), minlength=size) if private else None
    missing = (column.missing_rows, len(column.values or ()) - len(column.present) if private else column.missing_rows)
    release, original = ranges.spread(rows, size), None if held is None else held.astype(np.float64)
    guide = release if original is None else original
    lost = missing[1] if missing[1] < k else 0
    best: tuple[float, _Groups, list[int]] | None = None
    for groups in _groupings(column, size):
        counted = groups.sums(held) if held is not None else groups.within(ranges, rows)
        chosen = _frequent(groups, groups.sums(guide), counted, lost, k)
        share = float(groups.sums(guide)[chosen].sum())
        if best is None or share > best[0]:
            best = share, groups, chosen
        if share >= ENOUGH * guide.sum():
            break
    assert best is not None
    _, groups, chosen = best
    labels = [groups.labels[one] or "" for one in chosen]
    kept = [count if missing[1] >= k else 0 for count in missing]
    shares = [_with_rest(groups.sums(release), chosen, kept[0], float(column.times.sum()))]
    if original is not None:
        shares.append(_with_rest(groups.sums(original), chosen, kept[1], float(len(column.values or ()))))
    ends = [OTHERS, MISSING]
    filled = [place for place in range(2) if any(one[len(chosen) + place] > 0 for one in shares)]
    picked = [*range(len(chosen)), *(len(chosen) + place for place in filled)]
    labels += [ends[place] for place in filled]
    return labels, shares[0][picked], shares[1][picked] if original is not None else None, None


@dataclass(frozen=True)
class _Groups:
    """Values that are neighbours, put together."""

    starts: NDArray[np.int64]
    """The number of the first value of each group."""
    labels: tuple[str | None, ...]

    def sums(self, by_value: NDArray[Any]) -> Floats:
        """Of each group, from those of its values."""
        return np.add.reduceat(by_value.astype(np.float64), self.starts)

    def within(self, ranges: Ranges, rows: Floats) -> Floats:
        """Rows that are in one group for certain."""
        low, high = (np.searchsorted(self.starts, ends, "right") - 1 for ends in (ranges.low, ranges.high))
        return np.bincount(low[low == high], rows[low == high], len(self.starts)).astype(np.float64)


def _groupings(column: Column, size: int) -> Iterator[_Groups]:
    """Each value by itself, then what is on each level of its hierarchy, the root left out."""
    yield _Groups(np.arange(size), (*column.labels, *[None] * size)[:size])
    if not isinstance(column.axis, TreeAxis):
        return
    tree = column.axis.taxonomy
    for depth in range(tree.height_edges - 1, 0, -1):
        cut = (tree.depth == depth) | ((tree.depth < depth) & (tree.height == 0))
        nodes = np.flatnonzero(cut & (tree.first_leaf < size))
        yield _Groups(tree.first_leaf[nodes].astype(np.int64), tuple(tree.labels[node] for node in nodes))


def _frequent(groups: _Groups, guide: Floats, counted: Floats, lost: float, k: int) -> list[int]:
    """Those to be named, most frequent first: what is left for the others is nobody, or at least k records."""
    named = [int(one) for one in np.argsort(-guide, kind="stable") if counted[one] >= k and groups.labels[one]]
    named = named[:VALUES]
    total = float(guide.sum()) + lost
    while named and 0 < round(total - guide[named].sum(), 6) < k:
        named.pop()
    return named


def _with_rest(shares: Floats, chosen: list[int], missing: float, total: float) -> Floats:
    named = shares[chosen]
    rest = round(float(total - named.sum() - missing), 6)
    return np.array([*named, max(rest, 0.0), missing])
