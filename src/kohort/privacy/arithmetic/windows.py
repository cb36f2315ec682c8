"""Values near one another on a line: for each, the run of those within its reach."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kohort.privacy.arithmetic.counting import whole, whole_numbers, widened
from kohort.privacy.base import Histogram
from kohort.privacy.reference import SensitiveColumn

Ints = NDArray[np.int64]


def windows(column: SensitiveColumn, epsilon: Fraction, *, relative: bool = False) -> tuple[Ints, Ints]:
    """First and last value within epsilon of each value, or within epsilon times its size; missing is near itself."""
    numbers = column.numbers or ()
    places, factor = whole_numbers(numbers)
    # The distance of whole numbers is at most a number if and only if it is at most its whole part.
    if relative:
        reach = whole([int(epsilon * abs(int(place))) for place in places])
    else:
        reach = whole([int(epsilon * factor)] * len(numbers))
    furthest = int(np.abs(places).max(initial=0)) + int(reach.max(initial=0))
    places, reach = widened(furthest, places, reach)
    first = np.searchsorted(places, places - reach, side="left")
    last = np.searchsorted(places, places + reach, side="right") - 1
    itself = np.arange(column.known, column.size)
    return np.append(first, itself).astype(np.int64), np.append(last, itself).astype(np.int64)


def inside(classes: Histogram, first: Ints, last: Ints) -> Ints:
    """For each entry, the records of its class whose values lie in the window of its own."""
    values = len(first)
    key = classes.group * values + classes.value
    order = np.argsort(key, kind="stable")
    ranked, before = key[order], np.append(0, np.cumsum(classes.count[order]))
    start = classes.group * values
    low = np.searchsorted(ranked, start + first[classes.value], side="left")
    high = np.searchsorted(ranked, start + last[classes.value], side="right")
    found: Ints = before[high] - before[low]
    return found


def crowd(counts: Ints, first: Ints, last: Ints) -> int:
    """Most records in any of the runs of values, first and last one."""
    before = np.append(0, np.cumsum(counts))
    return int((before[last + 1] - before[first]).max(initial=0))
