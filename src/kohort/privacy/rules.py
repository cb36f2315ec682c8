"""Promises in the form that a search can follow: a few kinds of rules about how often values occur in a class.

A rule says by how much a class breaks it, in units of its own; 0 is for a class that keeps it. A model that fits no
kind may have no rule: then its classes are repaired after the search, and judged by the model itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

SHARES, DISTINCT, ENTROPY, RECURSIVE, DISTANCE, ROUGH_DISTANCE, RANGE, VARIANCE, WINDOWS, DISSIMILAR, LISTED = range(11)
"""The kinds. `kohort.kernels.search.rules` knows what they mean."""
PAD, MISSING = -1, -2
"""In the rows of DISSIMILAR: no level so deep, and the first of the numbers, downwards, that are full apart from all
others."""

_FINEST = 2**36
"""Largest common denominator of shares: times the size of a class it must stay within 64 bits."""
_ROOM, _LEAST_TERM, _LARGEST_TERM = 2**58, 10**4, 10**9
"""What a product may be, so that several can be added; and the largest numerator or denominator of a limit, at least
and at most. Where there is no room for the least one, rounded numbers take the place of whole ones."""


@dataclass(frozen=True)
class Rule:
    """One condition on every class."""

    kind: int
    """What sort of condition."""
    whole: NDArray[np.int64]
    """Its whole numbers."""
    real: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Its other numbers."""

    @property
    def lists(self) -> bool:
        """Whether it looks at a list of the values that a class has, and not at the counts of all values.

        Then it does not matter how many values there are in the table.
        """
        return self.kind in (DISSIMILAR, LISTED)


@dataclass(frozen=True)
class Near:
    """Which values are near one another: as rows of whole numbers, as a table of all pairs grows with their square."""

    rows: NDArray[np.int64]
    """Without axes, the first and the last value near each. Else the numbers of one axis after the other; shape
    (values, width)."""
    axes: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 3), np.int64))
    """Number of levels, distance of a step, and full distance, each as in `limit`. An axis without levels has one
    number: how far along it is, or from MISSING down what is full apart from all others. An axis with levels has the
    node of each of them, from below the root down, then PAD. Where nodes differ, each is a step; shape (axes, 3)."""
    limit: int = 0
    """Values are near if their distances along all axes are not more in total."""


def shares(
    upper: list[Fraction] | None, lower: list[Fraction] | None, *, strict: bool, size: int, skip: bool = False
) -> Rule:
    """Every value has at least, and at most, a certain share of the class.

    Parameters
    ----------
    strict : bool
        Whether the limits themselves are excluded.
    skip : bool
        Whether values that the class has not are left out.
    """
    least = lower or [Fraction(0)] * size
    most = [min(share, Fraction(2)) for share in upper] if upper else [Fraction(2)] * size
    common, finest = 1, False
    for below in sorted({share.denominator for share in [*least, *most]}):
        finer = lcm(common, below)
        common, finest = (common, True) if finer > _FINEST else (finer, finest)
    # Limits that are too fine are rounded to the safe side, with as many parts as there may be.
    common *= _FINEST // common if finest else 1
    highest = [int(share * common // 1) for share in most]
    lowest = [-int(-share * common // 1) for share in least]
    return Rule(SHARES, np.array([common, int(strict), int(skip), *highest, *lowest], np.int64))


def distinct(least: int, known: int) -> Rule:
    """At least `least` different values among the first `known` ones."""
    return Rule(DISTINCT, np.array([least, known], np.int64))


def listed(least: int) -> Rule:
    """At least `least` different values, of however many the table has."""
    return Rule(LISTED, np.array([least], np.int64))


def entropy(least: float) -> Rule:
    """The exponential of the entropy is at least this."""
    return Rule(ENTROPY, np.empty(0, np.int64), np.array([least]))


def recursive(c: Fraction, l: int) -> Rule:  # noqa: E741 - the name that everybody knows it by
    """The most frequent value occurs less than c times as often as the l-th and all rarer ones together."""
    c = _simple(c)
    return Rule(RECURSIVE, np.array([c.numerator, c.denominator, l], np.int64))


def distance(
    first: NDArray[np.int64],
    after: NDArray[np.int64],
    weights: NDArray[np.int64],
    most: Fraction,
    unit: int,
    counts: NDArray[np.int64],
) -> Rule:
    """A distance to the whole table that is a weighted sum over runs of values.

    Sum of weight times |share of the run in the class - share in the table|, divided by `unit`, is at most `most`. In
    tables so large that whole numbers would need more than 64 bits, it is a little below.

    Parameters
    ----------
    first, after, weights : int64[runs]
        The runs of values, first one and the one after the last, and their weights.
    counts : int64[values]
        Records of each value in the table.
    """
    before = np.append(0, np.cumsum(counts))
    inside = before[after] - before[first]
    # The work of a class of all records, times a term of the limit, must fit into 64 bits: a distance is at most 1.
    room = _ROOM // (max(int(before[-1]), 1) ** 2 * unit)
    if room < _LEAST_TERM:
        whole = np.concatenate([[len(first)], first, after, weights]).astype(np.int64)
        return Rule(ROUGH_DISTANCE, whole, np.array([float(most), float(unit), *(inside / before[-1])]))
    most = _simple(most, min(room, _LARGEST_TERM))
    head = [most.numerator, most.denominator, unit, before[-1], len(first)]
    return Rule(DISTANCE, np.concatenate([head, first, after, weights, inside]).astype(np.int64))


def spread(numbers: NDArray[np.int64], least: int) -> Rule:
    """The largest number of the class is at least so far from the smallest; values beyond the numbers do not count."""
    return Rule(RANGE, np.array([least, len(numbers), *numbers], np.int64))


def variance(numbers: NDArray[np.int64], least: float) -> Rule:
    """The variance of the numbers of the class is at least this; values beyond the numbers do not count."""
    return Rule(VARIANCE, np.empty(0, np.int64), np.array([least, *numbers.astype(float)]))


def windows(first: NDArray[np.int64], last: NDArray[np.int64], parts: int) -> Rule:
    """For every value of the class, those from first to last one have at most 1/parts of it together."""
    return Rule(WINDOWS, np.array([parts, *first, *last], np.int64))


def dissimilar(near: Near, least: Fraction) -> Rule:
    """For every value of the class, at least a share of all other records are not near it."""
    least = 1 - _simple(1 - least)
    head = [least.numerator, least.denominator, near.limit, len(near.axes), near.rows.shape[1]]
    return Rule(DISSIMILAR, np.concatenate([head, near.axes.ravel(), near.rows.ravel()]).astype(np.int64))


def _simple(limit: Fraction, largest: int = _LARGEST_TERM) -> Fraction:
    """The same limit, or a slightly lower one where its numerator or denominator is too large."""
    if max(limit.numerator, limit.denominator) <= largest:
        return limit
    parts = max(1, largest // (int(limit) + 1))
    return Fraction(min(int(limit * parts), largest), parts)
