"""By how much a class breaks the rules about its sensitive values (`kohort.privacy.rules`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import inlined, inner, kernel
from kohort.privacy.rules import (
    DISSIMILAR,
    DISTANCE,
    DISTINCT,
    ENTROPY,
    LISTED,
    MISSING,
    RANGE,
    RECURSIVE,
    ROUGH_DISTANCE,
    SHARES,
    VARIANCE,
    WINDOWS,
)

SLACK = 1e-9
"""Entropies and variances that differ by less are equal here; the model itself judges exactly."""
GRAIN = 1e6
"""What is measured in fractions is counted in millionths."""


class Rules(NamedTuple):
    """All rules about a table. The values of a class are counted in one row, one run of counts for each column.

    For rules that need no more, those that are there are listed at the end of the row instead: how many they are, then
    each with its count. So it makes no difference how many values the table has.

    Functions take the arrays one by one, and where a run begins and ends: to take one out of a tuple, or a part out of
    one, costs more than most of what they do.
    """

    table: NDArray[np.int64]
    """For each rule its kind, where the counts or the list of its column begin and end, and where its numbers begin."""
    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    values: NDArray[np.int32]
    """Where each record is counted, shape (records, columns)."""
    listed: NDArray[np.int32]
    """The value under which it is listed, shape (records, lists)."""
    lists: NDArray[np.int64]
    """Where each list begins."""
    alike: NDArray[np.int32]
    """A number for each record; those with the same one are counted alike."""
    width: int
    """Counts and lists of all columns together."""


@inner
def _list(value, times, counts, start):
    """Count a value in the list that begins there."""
    after = start + 1 + 2 * counts[start]
    for place in range(start + 1, after, 2):
        if counts[place] == value:
            counts[place + 1] += times
            if counts[place + 1] == 0:
                counts[place], counts[place + 1] = counts[after - 2], counts[after - 1]
                counts[start] -= 1
            return
    counts[after], counts[after + 1] = value, times
    counts[start] += 1


@inlined
def add_record(
    values,  # IN   Rules, one by one
    listed,
    lists,
    record,  # IN   int
    times,  # IN   int, 1 to add it, -1 to take it away
    counts,  # IN/OUT int64[width]
):
    """Count a record."""
    for column in range(values.shape[1]):
        counts[values[record, column]] += times
    for column in range(lists.shape[0]):
        _list(listed[record, column], times, counts, lists[column])


@inlined
def count_records(
    values,  # IN   Rules, one by one
    listed,
    lists,
    records,  # IN   int32[]
    counts,  # OUT  int64[width]
):
    """Count the values of some records."""
    for value in range(lists[0] if lists.shape[0] > 0 else counts.shape[0]):
        counts[value] = 0
    for column in range(lists.shape[0]):
        counts[lists[column]] = 0
    for index in range(records.shape[0]):
        add_record(values, listed, lists, records[index], 1, counts)


@inlined
def _sums(counts, start, stop, sums):
    """Sums of the first 0, 1, 2, ... counts."""
    sums[0] = 0
    for value in range(stop - start):
        sums[value + 1] = sums[value] + counts[start + value]


@inner
def _shares(counts, start, stop, size, whole, at):
    common, strict, skip = whole[at], whole[at + 1], whole[at + 2]
    m = stop - start
    broken = np.int64(0)
    for value in range(m):
        have = counts[start + value] * common
        broken += max(np.int64(0), have - size * whole[at + 3 + value] + strict)
        if skip == 0 or have > 0:
            broken += max(np.int64(0), size * whole[at + 3 + m + value] - have + strict)
    return broken


@inner
def _distinct(counts, start, whole, at):
    found = 0
    for value in range(whole[at + 1]):
        found += counts[start + value] > 0
    return max(np.int64(0), whole[at] - found)


@inner
def _entropy(counts, start, stop, size, least):
    total = 0.0
    for value in range(start, stop):
        if counts[value] > 0:
            total -= counts[value] * np.log(counts[value] / size)
    missing = np.log(least) - total / size
    return np.int64(np.ceil(missing * GRAIN)) if missing > SLACK else np.int64(0)


@inner
def _recursive(counts, start, stop, size, whole, at, most):
    up, down, places = whole[at], whole[at + 1], min(whole[at + 2] - 1, stop - start)
    for place in range(places):
        most[place] = 0
    # The largest counts, in order: a few of them, so that to sort all would take longer.
    for value in range(start, stop):
        count = counts[value]
        if count > most[places - 1]:
            place = places - 1
            while place > 0 and most[place - 1] < count:
                most[place] = most[place - 1]
                place -= 1
            most[place] = count
    tail = np.int64(size)
    for place in range(places):
        tail -= most[place]
    return max(np.int64(0), most[0] * down - up * tail + 1)


@inner
def _distance(counts, start, stop, size, whole, at, sums):
    up, down, unit, total, runs = whole[at], whole[at + 1], whole[at + 2], whole[at + 3], whole[at + 4]
    first, after, weights, inside = at + 5, at + 5 + runs, at + 5 + 2 * runs, at + 5 + 3 * runs
    _sums(counts, start, stop, sums)
    apart = np.int64(0)
    for run in range(runs):
        have = sums[whole[after + run]] - sums[whole[first + run]]
        apart += whole[weights + run] * abs(have * total - size * whole[inside + run])
    # In units of the table's size times that of the class, so that a class of any size is judged alike.
    excess = apart * down - up * size * total * unit
    return max(np.int64(0), excess)


@inner
def _rough_distance(counts, start, stop, size, whole, at, real, real_at, sums):
    runs = whole[at]
    first, after, weights = at + 1, at + 1 + runs, at + 1 + 2 * runs
    _sums(counts, start, stop, sums)
    apart = 0.0
    for run in range(runs):
        have = sums[whole[after + run]] - sums[whole[first + run]]
        apart += whole[weights + run] * abs(have / size - real[real_at + 2 + run])
    # On the safe side: what is as far as it may be is too far.
    excess = apart / real[real_at + 1] - real[real_at] + SLACK
    return np.int64(np.ceil(excess * GRAIN)) if excess > 0 else np.int64(0)


@inner
def _range(counts, start, whole, at):
    low, high = np.int64(0), np.int64(-1)
    for value in range(whole[at + 1]):
        if counts[start + value] > 0:
            if high < low:
                low = value
            high = value
    spread = whole[at + 2 + high] - whole[at + 2 + low] if high >= low else np.int64(-1)
    return max(np.int64(0), whole[at] - spread)


@inner
def _variance(counts, start, real, at, after):
    least, numbers = real[at], at + 1
    size, total = 0, 0.0
    for value in range(after - numbers):
        size += counts[start + value]
        total += counts[start + value] * real[numbers + value]
    if size == 0:
        return np.int64(GRAIN)
    mean = total / size
    squares = 0.0
    for value in range(after - numbers):
        squares += counts[start + value] * (real[numbers + value] - mean) ** 2
    missing = least - squares / size
    return np.int64(np.ceil(missing / least * GRAIN)) if missing > SLACK * least else np.int64(0)


@inner
def _windows(counts, start, stop, size, whole, at, sums):
    parts, m = whole[at], stop - start
    _sums(counts, start, stop, sums)
    broken = np.int64(0)
    for value in range(m):
        if counts[start + value] > 0:
            inside = sums[whole[at + 1 + m + value] + 1] - sums[whole[at + 1 + value]]
            broken += max(np.int64(0), inside * parts - size)
    return broken


@inner
def _are_near(one, other, whole, at):
    limit, axes, width = whole[at], whole[at + 1], whole[at + 2]
    rows = at + 3 + 3 * axes
    here, there = rows + one * width, rows + other * width
    if axes == 0:
        return whole[here] <= other and other <= whole[here + 1]
    apart = np.int64(0)
    for axis in range(at + 3, rows, 3):
        levels, step, full = whole[axis], whole[axis + 1], whole[axis + 2]
        a, b = whole[here], whole[there]
        if a != b and min(a, b) <= MISSING:
            apart += full
        elif levels == 0:
            apart += abs(a - b)
        else:
            for level in range(levels):
                a, b = whole[here + level], whole[there + level]
                if a != b:
                    apart += step * ((a >= 0) + (b >= 0))
        if apart > limit:
            return False
        here += max(levels, 1)
        there += max(levels, 1)
    return True


@inner
def _dissimilar(counts, start, size, whole, at, near):
    up, down, found = whole[at], whole[at + 1], counts[start]
    for one in range(found):
        near[one] = counts[start + 2 + 2 * one]
    broken = np.int64(0)
    for one in range(found):
        value, count = counts[start + 1 + 2 * one], counts[start + 2 + 2 * one]
        for other in range(one + 1, found):
            if _are_near(value, counts[start + 1 + 2 * other], whole, at + 2):
                near[one] += counts[start + 2 + 2 * other]
                near[other] += count
        broken += max(np.int64(0), up * (size - 1) - down * (size - near[one]))
    return broken


@kernel
def broken_by(
    table,  # IN   Rules, one by one
    whole,
    real,
    counts,  # IN   int64[width]
    size,  # IN   int, records of the class
    work,  # TMP  int64[width + 1]
):
    """By how much a class breaks all rules together; 0 for one that keeps them."""
    broken = np.int64(0)
    for rule in range(table.shape[0] - 1):
        kind, start, stop = table[rule, 0], table[rule, 1], table[rule, 2]
        at, real_at = table[rule, 3], table[rule, 4]
        if kind == SHARES:
            broken += _shares(counts, start, stop, size, whole, at)
        elif kind == DISTINCT:
            broken += _distinct(counts, start, whole, at)
        elif kind == ENTROPY:
            broken += _entropy(counts, start, stop, size, real[real_at])
        elif kind == RECURSIVE:
            broken += _recursive(counts, start, stop, size, whole, at, work)
        elif kind == DISTANCE:
            broken += _distance(counts, start, stop, size, whole, at, work)
        elif kind == ROUGH_DISTANCE:
            broken += _rough_distance(counts, start, stop, size, whole, at, real, real_at, work)
        elif kind == RANGE:
            broken += _range(counts, start, whole, at)
        elif kind == VARIANCE:
            broken += _variance(counts, start, real, real_at, table[rule + 1, 4])
        elif kind == WINDOWS:
            broken += _windows(counts, start, stop, size, whole, at, work)
        elif kind == DISSIMILAR:
            broken += _dissimilar(counts, start, size, whole, at, work)
        elif kind == LISTED:
            broken += max(np.int64(0), whole[at] - counts[start])
    return broken
