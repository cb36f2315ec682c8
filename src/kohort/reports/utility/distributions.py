"""How the distribution of a column changes, and what of its mean and quantiles can be recovered from a release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohort.reports.ranges import Floats, Kind, Ranges
from kohort.reports.utility.columns import Column

GROUPS = 20
"""Number of groups of as many records in which numbers and dates are compared."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Recovered:
    """Mean and quantiles of a column of numbers or dates; errors are in standard deviations of the original."""

    mean: float
    """Of the release; dates are days since 1970."""
    mean_of_original: float
    mean_error: float
    quantile_errors: tuple[float, ...]
    """At the quantiles of `QUANTILES`, release less original."""

    @property
    def largest_quantile_error(self) -> float:
        """The largest of them, whatever its direction."""
        return max(map(abs, self.quantile_errors))


@dataclass(frozen=True)
class Change:
    """How far the distribution of a column in the release is from that in the original."""

    column: str
    kind: Kind
    published_as_is: bool
    shift: float
    """Share of the records that would have to change their value, or group of values: total variation distance."""
    distance: float | None
    """Of numbers and dates: how far a value has moved on average, as a share of the range: Wasserstein distance."""
    recovered: Recovered | None
    """Of numbers and dates."""


def change(column: Column) -> Change:
    """Compare a column in both tables.

    Notes
    -----
    Time O(n log n) for n records; memory O(n).
    """
    values = column.present
    comparable = column.is_number and len(values) > 0 and column.weights.sum() > 0
    return Change(
        column=column.name,
        kind=column.kind,
        published_as_is=not column.is_quasi,
        shift=total_variation(column),
        distance=_moved(column) if comparable else None,
        recovered=recovered(column) if comparable else None,
    )


def total_variation(column: Column) -> float:
    """Half the sum of the differences of all shares; a missing value is a value, too."""
    before, after = masses(column)
    if not before.sum() or not after.sum():
        return 0.0
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)


def masses(column: Column) -> tuple[Floats, Floats]:
    """Records of the original and of the release by value, or by group of numbers; missing ones last."""
    assert column.values is not None
    shown, weights = column.shown.of(~column.shown.missing), column.times[~column.shown.missing].astype(np.float64)
    values, times = column.held
    if column.is_number:
        cuts = group_cuts(column.present)
        before, after = by_group(values, times, cuts), by_group(shown, weights, cuts)
    else:
        size = 1 + int(max(shown.high.max(initial=0), values.high.max(initial=0)))
        before, after = values.spread(times, size), shown.spread(weights, size)
    missing = len(column.values) - len(column.present)
    return np.append(before, missing), np.append(after, column.missing_rows)


def group_cuts(values: Floats, groups: int = GROUPS) -> Floats:
    """Upper ends of groups of as many records each, as far as equal values allow it; the last group has none."""
    if not len(values):
        return np.empty(0)
    return np.unique(np.quantile(values, np.arange(1, groups) / groups, method="inverted_cdf"))


def by_group(ranges: Ranges, weights: Floats, cuts: Floats) -> Floats:
    """Weight of each group; none may be missing."""
    reached = [float(weights @ ranges.below(cut)) for cut in cuts]
    return np.diff([0.0, *reached, float(weights.sum())])


# -- numbers on a line -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """A distribution on a line: masses, each evenly on an interval or at one place. A whole number is as wide as 1."""

    low: Floats
    high: Floats
    mass: Floats

    @classmethod
    def of(cls, ranges: Ranges, weights: Floats) -> Spread:
        """Of ranges of which none is missing; equal ones are put together."""
        ends, place = np.unique(np.column_stack([ranges.low, ranges.high]), axis=0, return_inverse=True)
        mass = np.bincount(place.ravel(), weights, len(ends))
        return cls(ends[:, 0], ends[:, 1] + ranges.whole, mass / mass.sum())

    @property
    def ends(self) -> Floats:
        """Where its density may change."""
        return np.unique(np.concatenate([self.low, self.high]))

    def below(self, places: Floats, *, strictly: bool = False) -> Floats:
        """Mass at and below each place; or below it."""
        wide = self.high > self.low
        density = self.mass[wide] / (self.high[wide] - self.low[wide])
        even = _ramps(self.low[wide], density, places) - _ramps(self.high[wide], density, places)
        order = np.argsort(self.low[~wide])
        reached = np.append(0.0, self.mass[~wide][order].cumsum())
        alone = self.low[~wide][order]
        passed = np.searchsorted(alone, places, "left") if strictly else np.searchsorted(alone, places, "right")
        return np.asarray(even + reached[passed])

    def quantile(self, share: float) -> float:
        """The first place at and below which there is that share."""
        places = self.ends
        reached = self.below(places)
        after = int(np.argmax(reached >= share * (1 - 1e-12)))
        if after == 0:
            return float(places[0])
        left, right = reached[after - 1], self.below(places[after : after + 1], strictly=True)[0]
        if right < share or right <= left:
            return float(places[after])
        step = (share - left) / (right - left)
        return float(places[after - 1] + step * (places[after] - places[after - 1]))


def _ramps(starts: Floats, slopes: Floats, places: Floats) -> Floats:
    """Sum of lines that rise from their starts."""
    order = np.argsort(starts)
    base = starts[order[0]] if len(order) else 0.0
    slope = np.append(0.0, slopes[order].cumsum())
    offset = np.append(0.0, (slopes[order] * (starts[order] - base)).cumsum())
    reached = np.searchsorted(starts[order], places, "right")
    return np.asarray(slope[reached] * (places - base) - offset[reached])


def wasserstein(first: Spread, second: Spread, *, whole: bool) -> float:
    """How far mass has to be moved on average to make one distribution the other.

    The area between both distribution functions, or their distance summed over all whole numbers. Between two places
    where a density changes, the difference is a line, whose sum is known.
    """
    places = np.unique(np.concatenate([first.ends, second.ends]))
    begin = first.below(places) - second.below(places)
    end = (first.below(places, strictly=True) - second.below(places, strictly=True))[1:]
    begin, length = begin[:-1], np.diff(places)
    if whole:
        return float(_sums(begin, end, np.rint(length)).sum())
    crossing = begin * end < 0
    steep = np.where(crossing, np.abs(end - begin), 1.0)
    area = np.where(crossing, (begin**2 + end**2) / (2 * steep), np.abs(begin + end) / 2)
    return float((area * length).sum())


def _sums(begin: Floats, end: Floats, terms: Floats) -> Floats:
    """Sum of the sizes of equally spaced numbers from each beginning to, and without, each end."""
    step = (end - begin) / terms
    crossing = begin * end < 0
    first = np.where(crossing, np.ceil(-begin / np.where(crossing, step, 1.0)), terms)

    def total(count: Floats) -> Floats:
        return count * begin + step * count * (count - 1) / 2

    return np.abs(total(first)) + np.abs(total(terms) - total(first))


def _both(column: Column) -> tuple[Spread, Spread]:
    """The original and the release on one line, without missing values."""
    there = ~column.shown.missing
    shown = column.shown.of(there)
    values, times = column.held
    used = column.times[there] > 0
    return Spread.of(values, times), Spread.of(shown.of(used), column.times[there][used].astype(float))


def _moved(column: Column) -> float:
    before, after = _both(column)
    width = float(np.ptp(column.present))
    moved = wasserstein(before, after, whole=column.shown.whole)
    return moved / width if width > 0 else float(moved > 0)


def recovered(column: Column) -> Recovered:
    """Mean and quantiles of both tables."""
    before, after = _both(column)
    values, weights = column.present, column.weights
    deviation = float(values.std())
    unit = deviation if deviation > 0 else 1.0
    mean = float(np.nan_to_num(column.shown.middle) @ weights / weights.sum())
    whole = column.shown.whole

    def place(spread: Spread, share: float) -> float:
        found = spread.quantile(share)
        return float(np.ceil(found - 1e-9)) - 1 if whole else found

    errors = tuple((place(after, share) - place(before, share)) / unit for share in QUANTILES)
    return Recovered(mean, float(values.mean()), float(mean - values.mean()) / unit, errors)
