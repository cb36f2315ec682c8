"""An order of rows in which near ones stand near each other on every axis at once: halve runs along their widest side.

Where all axes have many values, a sorted order is of use on its first axis alone; this one is not.
"""

from __future__ import annotations

import numpy as np

from kohort.kernels.costs import span_cost
from kohort.kernels.jit import inner, kernel
from kohort.kernels.random import below, share

DEEPEST = 60
"""From this depth on, runs are cut in the middle, however small the parts were that have been cut off so far."""
MOST_WAITING = 128
"""More runs than ever wait: of two parts the shorter one is next."""


@inner
def _select(
    keys,  # IN   int32[m], of all rows
    run,  # IN/OUT int64[length], rows
    middle,  # IN   int, a place in the run
    random,  # IN/OUT uint64[1]
):
    """Put rows with smaller keys before the middle and those with larger ones behind it."""
    low, high = 0, len(run) - 1
    while low < high:
        pivot = keys[run[low + below(random, high - low + 1)]]
        left, right = low, high
        while left <= right:
            while keys[run[left]] < pivot:
                left += 1
            while keys[run[right]] > pivot:
                right -= 1
            if left <= right:
                run[left], run[right] = run[right], run[left]
                left += 1
                right -= 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            return


@inner
def _cut_near_middle(
    keys,  # IN   int32[m], of all rows; not all of the run's are equal
    run,  # IN/OUT int64[length], rows
    random,  # IN/OUT uint64[1]
):
    """Cut a run between two different keys, as near the middle as can be; returns the place."""
    middle = len(run) // 2
    _select(keys, run, middle, random)
    pivot = keys[run[middle]]
    # Rows with the key of the middle are brought together, so that a cut can pass beside them.
    before = middle
    for place in range(middle - 1, -1, -1):
        if keys[run[place]] == pivot:
            before -= 1
            run[place], run[before] = run[before], run[place]
    after = middle
    for place in range(middle, len(run)):
        if keys[run[place]] == pivot:
            run[place], run[after] = run[after], run[place]
            after += 1
    if before == 0 or (after < len(run) and after - middle < middle - before):
        return after
    return before


@inner
def _cut_at_least_cost(
    keys,  # IN   int32[m], of all rows
    run,  # IN/OUT int64[length], rows
    costs,  # IN   Costs
    axis,  # IN   int
    low,  # IN   int, smallest key of the run
    high,  # IN   int, largest one
    counts,  # TMP  int64[length]
    buffer,  # TMP  int64[length]
):
    """Cut a run between two keys where the two parts cost least on this axis; returns the place, 0 if there is none."""
    counts[: high - low + 1] = 0
    for row in run:
        counts[keys[row] - low] += 1
    least = np.int64(len(run)) * span_cost(costs, axis, low, high)
    place = 0
    cut = last = low
    before = 0
    for key in range(low, high + 1):
        if counts[key - low] == 0:
            continue
        if before > 0:
            cost = before * np.int64(span_cost(costs, axis, low, last))
            cost += (len(run) - before) * np.int64(span_cost(costs, axis, key, high))
            if cost < least:
                least, place, cut = cost, before, key
        before += counts[key - low]
        last = key
    if place > 0:
        left, right = 0, place
        for row in run:
            if keys[row] < cut:
                buffer[left] = row
                left += 1
            else:
                buffer[right] = row
                right += 1
        for i in range(len(run)):
            run[i] = buffer[i]
    return place


@kernel
def order_by_halves(
    columns,  # IN   int32[d, m], codes, axis by axis
    costs,  # IN   Costs
    leaf,  # IN   int, a run of at most this many rows is left as it is
    jitter,  # IN   float in [0, 1): how much the choice of an axis is left to chance
    random,  # IN/OUT uint64[1]
    order,  # IN/OUT int64[m], all rows
):
    """Cut runs along the side of their box that costs most, until they are short.

    A cut is where the two parts cost least, if the codes of the run can be counted; otherwise, and from some
    depth on, it is near the middle: O(m d log m).
    """
    d, m = columns.shape
    waiting = np.empty((MOST_WAITING, 3), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, m, 0
    count = 1
    counts = np.empty(m, np.int64)
    buffer = np.empty(m, np.int64)
    while count > 0:
        count -= 1
        start, stop, depth = waiting[count]
        if stop - start <= leaf:
            continue
        run = order[start:stop]
        widest = 0.0
        along = -1
        lowest = highest = 0
        for axis in range(d):
            column = columns[axis]
            low = high = column[run[0]]
            for row in run:
                low = min(low, column[row])
                high = max(high, column[row])
            if low < high:
                width = (1.0 + span_cost(costs, axis, low, high)) * (1.0 - jitter * share(random))
                if width > widest:
                    widest, along, lowest, highest = width, axis, low, high
        if along < 0:
            continue
        middle = 0
        if highest - lowest < stop - start and depth < DEEPEST:
            middle = _cut_at_least_cost(columns[along], run, costs, along, lowest, highest, counts, buffer)
        if middle == 0:
            middle = _cut_near_middle(columns[along], run, random)
        # The longer part waits below the shorter one, so few ever wait.
        longer = 0 if 2 * middle > stop - start else 1
        waiting[count + longer, 0], waiting[count + longer, 1] = start, start + middle
        waiting[count + 1 - longer, 0], waiting[count + 1 - longer, 1] = start + middle, stop
        waiting[count, 2] = waiting[count + 1, 2] = depth + 1
        count += 2
