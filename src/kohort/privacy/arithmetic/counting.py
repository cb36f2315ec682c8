"""Exact arithmetic on the entries of a histogram: in 64 bits where results fit, else in whole numbers of any size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.privacy.base import Histogram

Whole: TypeAlias = NDArray[Any]
"""Whole numbers: of type int64, or Python's own."""

_FITS = 2**62


def widened(bound: int, *arrays: Whole) -> tuple[Whole, ...]:
    """The same numbers in a type that has room for results of this size."""
    return arrays if bound < _FITS else tuple(array.astype(object) for array in arrays)


def whole(numbers: Sequence[int]) -> Whole:
    """Whole numbers in the smallest type that they fit in."""
    fit = max(map(abs, numbers), default=0) < _FITS
    array: Whole = np.array(numbers, np.int64 if fit else object)
    return array


def whole_numbers(numbers: Sequence[Fraction]) -> tuple[Whole, int]:
    """Fractions times the least factor that makes all of them whole, and the factor."""
    factor = lcm(*(number.denominator for number in numbers))
    return whole([int(number * factor) for number in numbers]), factor


def sums(group: NDArray[np.int64], terms: Whole, classes: int) -> Whole:
    """The sum of the terms of each class, exactly."""
    total: Whole = np.zeros(classes, terms.dtype) if terms.dtype != object else np.array([0] * classes, object)
    np.add.at(total, group, terms)
    return total


def kept_by_all(classes: Histogram, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which classes have no entry that breaks a promise."""
    found = np.ones(classes.classes, bool)
    found[classes.group[~kept]] = False
    return found


def at_most(part: Whole, of: Whole, share: Fraction) -> NDArray[np.bool_]:
    """Whether each part is at most a share of the number that it is of; none is negative."""
    largest = max(int(part.max(initial=0)), int(of.max(initial=0)))
    part, of = widened(largest * max(share.numerator, share.denominator), part, of)
    return part * share.denominator <= of * share.numerator


def entries_at_most(classes: Histogram, shares: Sequence[Fraction], *, strict: bool = False) -> NDArray[np.bool_]:
    """Whether the value of each entry has at most its share of the class, or less than it."""
    part, limit = _against(classes, shares)
    return part < limit if strict else part <= limit


def entries_above(classes: Histogram, shares: Sequence[Fraction]) -> NDArray[np.bool_]:
    """Whether the value of each entry has more than its share of the class."""
    part, limit = _against(classes, shares)
    return part > limit


def _against(classes: Histogram, shares: Sequence[Fraction]) -> tuple[Whole, Whole]:
    """The count of each entry, and the share of its value in the size of its class, times the same number."""
    above, below = whole([share.numerator for share in shares]), whole([share.denominator for share in shares])
    sizes = classes.sizes
    largest = max(int(above.max(initial=0)), int(below.max(initial=0))) * int(sizes.max(initial=0))
    count, size, above, below = widened(largest, classes.count, sizes[classes.group], above, below)
    return count * below[classes.value], size * above[classes.value]
