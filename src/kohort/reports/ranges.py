"""What a published value may stand for: a range of numbers, or of the leaves of a hierarchy, all equally likely.

A release does not say which value of its range a record has. Everybody who computes with it must assume something; here
it is that every whole number, every day and every leaf of the range is equally likely, and every decimal number alike.
`*` stands for every value of the column; a missing value stands for nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.audit.meaning.intervals import day, number
from kohort.codes.encode import Axis, LineAxis, TreeAxis, as_numbers
from kohort.policy import Column
from kohort.release.published_loss import line_ends
from kohort.reports.published import Published
from kohort.table.texts import as_texts

Kind: TypeAlias = Literal["number", "date", "category"]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Ranges:
    """Ranges of one column, one for each of some rows; a value that is known is a range of its own."""

    low: Floats
    """Smallest number of each, or its first leaf; NaN where the value is missing."""
    high: Floats
    """Largest number, or the last leaf."""
    whole: bool
    """Whether whole numbers, days or leaves are meant, and nothing between them."""

    @classmethod
    def of_values(cls, values: Floats, *, whole: bool) -> Ranges:
        """Values that are known, NaN where one is missing."""
        return cls(values, values, whole)

    def __len__(self) -> int:
        return len(self.low)

    def of(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Ranges:
        """Those of some rows."""
        return Ranges(self.low[rows], self.high[rows], self.whole)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where the value is missing."""
        return np.isnan(self.low)

    @property
    def middle(self) -> Floats:
        """The mean of each; NaN for a missing value."""
        return (self.low + self.high) / 2

    @property
    def _values(self) -> Floats:
        """How many values, or what length, each has; 0 for a single one."""
        return np.where(self.high > self.low, self.high - self.low + self.whole, 0.0)

    def below(self, place: float) -> Floats:
        """Chance of each that its value is not above a place; 0 for a missing one."""
        place = np.floor(place) if self.whole else place
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (place - self.low + self.whole) / self._values
        return np.where(self._values > 0, np.clip(part, 0.0, 1.0), self.low <= place)

    def within(self, low: float, high: float) -> Floats:
        """Chance of each that its value is in an interval, both ends included; 0 for a missing one."""
        low, high = (np.ceil(low), np.floor(high)) if self.whole else (low, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.minimum(self.high, high) - np.maximum(self.low, low) + self.whole
            part = np.clip(inside / self._values, 0.0, 1.0)
        return np.where(self._values > 0, part, (self.low >= low) & (self.high <= high)).astype(np.float64)

    def spread(self, weights: Floats, size: int) -> Floats:
        """Weight of each of the whole numbers 0 to `size`, when that of each range is spread; none may be missing."""
        low, high = self.low.astype(np.int64), self.high.astype(np.int64)
        each = weights / (high - low + 1)
        alone = np.bincount(low[low == high], weights[low == high], size)
        wide = low < high
        steps = np.bincount(low[wide], each[wide], size + 1) - np.bincount(high[wide] + 1, each[wide], size + 1)
        return np.asarray(alone + np.maximum(steps[:-1].cumsum(), 0.0))


@dataclass(frozen=True)
class AsIs:
    """A column that is published as it is."""

    name: str
    kind: Kind
    rows: Ranges
    """One for each row of the release; categories have numbers, the same ones in both tables."""
    values: Ranges | None
    """One for each record of the original."""
    labels: tuple[str | None, ...]
    """Of a category: its values by their numbers; None for one that no row has."""


def as_is(published: Published, name: str) -> AsIs:
    """One of the columns that are published as they are and, if the original is there, are in it, too."""
    ours = published.typed(name)
    theirs = None if published.original is None else published.of_original(name)
    both = [ours] if theirs is None else [ours, theirs]
    if all(one.dtype.is_numeric() for one in both) or all(one.dtype == pl.Date for one in both):
        kind: Kind = "date" if ours.dtype == pl.Date else "number"
        whole = not any(one.dtype.is_float() for one in both)
        found = [Ranges.of_values(as_numbers(one), whole=whole) for one in both]
        return AsIs(name, kind, found[0], found[1] if len(found) > 1 else None, ())
    numbers = [published.values([name])[:, 0]] if theirs is None else published.values_of_both(name)
    found = [Ranges.of_values(np.where(one > 0, one - 1.0, np.nan), whole=True) for one in numbers]
    return AsIs(name, "category", found[0], found[1] if len(found) > 1 else None, _labels(ours, found[0]))


def _labels(texts: pl.Series, numbers: Ranges) -> tuple[str | None, ...]:
    there = np.flatnonzero(~numbers.missing)
    codes, rows = np.unique(numbers.low[there].astype(np.int64), return_index=True)
    named = dict(zip(codes.tolist(), as_texts(texts.gather(there[rows])).to_list(), strict=True))
    return tuple(named.get(code) for code in range(max(named, default=-1) + 1))


@dataclass(frozen=True)
class Generalized:
    """A quasi-identifier: what each class may stand for and, if the original is there, what its records have."""

    name: str
    kind: Kind
    classes: Ranges
    """One for each class of the release."""
    values: Ranges | None
    """One for each record of the original."""
    axis: Axis
    leaves: tuple[str, ...] = ()
    """Of a category: the values, in the order of their numbers."""

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers, days or leaves."""
        return self.classes.whole


def generalized(published: Published) -> tuple[Generalized, ...]:
    """The quasi-identifiers of a release, in the order of the policy."""
    return tuple(_generalized(published, j) for j in range(len(published.axes)))


def _generalized(published: Published, place: int) -> Generalized:
    axis = published.axes[place]
    texts = published.counts[axis.name].texts
    numbers = _numbers(axis, published.policy.columns[axis.name])
    if isinstance(axis, LineAxis):
        kind: Kind = "date" if axis.values.dtype == pl.Date else "number"
        whole = axis.values.dtype.is_integer() or axis.values.dtype.is_temporal()
        low, high = _line(published, axis, texts)
    else:
        kind, whole = _meaning(numbers)
        ends = published.ends(place)
        last = axis.taxonomy.n_leaves - 1
        # what covers no value of the original says as little as `*` does
        ends = np.where(ends[:, :1] > ends[:, 1:], (0, last), np.minimum(ends, last))
        low, high = (ends if numbers is None else numbers[1][ends]).astype(np.float64).T
    missing = texts.is_null().to_numpy() & axis.has_missing  # elsewhere it stands for anything, as `*` does
    low, high = np.where(missing, np.nan, low), np.where(missing, np.nan, high)
    whole = whole and all(bool((ends[~missing] == np.rint(ends[~missing])).all()) for ends in (low, high))
    rows = published.class_texts[:, place]
    leaves = axis.taxonomy.leaf_labels if isinstance(axis, TreeAxis) and kind == "category" else ()
    values = _originals(published, place, numbers, whole=whole)
    return Generalized(axis.name, kind, Ranges(low[rows], high[rows], whole), values, axis, tuple(leaves))


def _line(published: Published, axis: LineAxis, texts: pl.Series) -> tuple[Floats, Floats]:
    low, high, star = np.zeros(len(texts)), np.zeros(len(texts)), np.ones(len(texts), bool)
    said = texts.is_not_null().to_numpy()
    low[said], high[said], star[said] = line_ends(axis, published.column(axis.name), texts.filter(said))
    return np.where(star, axis.low, low), np.where(star, axis.high, high)


def _meaning(numbers: tuple[Kind, Floats] | None) -> tuple[Kind, bool]:
    return ("category", True) if numbers is None else (numbers[0], bool((numbers[1] == np.rint(numbers[1])).all()))


def _numbers(axis: Axis, column: Column) -> tuple[Kind, Floats] | None:
    """The leaves of a hierarchy over numbers or dates, if they ascend."""
    is_code = column.type == "string" or (column.hierarchy is not None and column.hierarchy.prefix is not None)
    if isinstance(axis, LineAxis) or is_code or column.hierarchy is None:
        return None
    readers: Sequence[tuple[Kind, object]] = (("number", number), ("date", day))
    for kind, read in readers:
        found = [read(label) for label in axis.taxonomy.leaf_labels]  # type: ignore[operator]
        if all(one is not None for one in found):
            numbers = np.array([float(one) for one in found])
            return (kind, numbers) if (np.diff(numbers) > 0).all() else None
    return None


def _originals(published: Published, place: int, numbers: tuple[Kind, Floats] | None, *, whole: bool) -> Ranges | None:
    original, axis = published.original, published.axes[place]
    if original is None:
        return None
    if isinstance(axis, LineAxis):
        return Ranges.of_values(as_numbers(original.typed[axis.name]), whole=whole)
    codes = original.codes.array[:, place]
    leaves = np.arange(axis.size, dtype=np.float64) if numbers is None else numbers[1]
    values = np.append(leaves[: axis.size - axis.has_missing], np.nan)
    return Ranges.of_values(values[np.where(codes == axis.missing_code, -1, codes)], whole=whole)
