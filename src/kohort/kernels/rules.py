"""By how much a class breaks the rules about its sensitive values (`kohort.privacy.rules`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import kernel
from kohort.privacy.rules import (
    DISSIMILAR,
    DISTANCE,
    DISTINCT,
    ENTROPY,
    RANGE,
    RECURSIVE,
    SHARES,
    VARIANCE,
    WINDOWS,
)

SLACK = 1e-9
"""Entropies and variances that differ by less are equal here; the model itself judges exactly."""
GRAIN = 1e6
"""What is measured in fractions is counted in millionths."""


class Rules(NamedTuple):
    """All rules about a table. The values of a class are counted in one row, one run of counts for each column."""

    kind: NDArray[np.int64]
    column: NDArray[np.int64]
    """Which column of `values` a rule is about."""
    first: NDArray[np.int64]
    """Where the counts of a column begin; at last, where all end."""
    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    whole_at: NDArray[np.int64]
    """Where the whole numbers of a rule begin; at last, where all end."""
    real_at: NDArray[np.int64]
    values: NDArray[np.int32]
    """Number of each record's value, shape (records, columns)."""


@kernel
def add_record(
    rules,  # IN   Rules
    record,  # IN   int
    times,  # IN   int, 1 to add it, -1 to take it away
    counts,  # IN/OUT int64[values of all columns]
):
    """Count a record."""
    for column in range(rules.values.shape[1]):
        counts[rules.first[column] + rules.values[record, column]] += times


@kernel
def count_records(
    rules,  # IN   Rules
    records,  # IN   int32[]
    counts,  # OUT  int64[values of all columns]
):
    """Count the values of some records."""
    counts[:] = 0
    for record in records:
        add_record(rules, record, 1, counts)


@kernel
def _shares(counts, size, whole):
    common, strict = whole[0], whole[1]
    m = counts.shape[0]
    broken = np.int64(0)
    for value in range(m):
        have = counts[value] * common
        broken += max(np.int64(0), have - size * whole[2 + value] + strict)
        broken += max(np.int64(0), size * whole[2 + m + value] - have + strict)
    return broken


@kernel
def _distinct(counts, whole):
    found = 0
    for value in range(whole[1]):
        found += counts[value] > 0
    return max(np.int64(0), whole[0] - found)


@kernel
def _entropy(counts, size, least):
    total = 0.0
    for count in counts:
        if count > 0:
            total -= count * np.log(count / size)
    missing = np.log(least) - total / size
    return np.int64(np.ceil(missing * GRAIN)) if missing > SLACK else np.int64(0)


@kernel
def _recursive(counts, whole):
    up, down, rank = whole[0], whole[1], whole[2]
    ordered = np.sort(counts)
    m = len(ordered)
    tail = np.int64(0)
    for place in range(m - rank + 1):
        tail += ordered[place]
    return max(np.int64(0), ordered[m - 1] * down - up * tail + 1)


@kernel
def _distance(counts, size, whole):
    up, down, unit, total, runs = whole[0], whole[1], whole[2], whole[3], whole[4]
    first, after = whole[5 : 5 + runs], whole[5 + runs : 5 + 2 * runs]
    weights, inside = whole[5 + 2 * runs : 5 + 3 * runs], whole[5 + 3 * runs : 5 + 4 * runs]
    before = np.zeros(counts.shape[0] + 1, np.int64)
    for value in range(counts.shape[0]):
        before[value + 1] = before[value] + counts[value]
    apart = np.int64(0)
    for run in range(runs):
        apart += weights[run] * abs((before[after[run]] - before[first[run]]) * total - size * inside[run])
    # In units of the table's size times that of the class, so that a class of any size is judged alike.
    excess = apart * down - up * size * total * unit
    return max(np.int64(0), excess)


@kernel
def _range(counts, whole):
    numbers = whole[2:]
    low, high = np.int64(0), np.int64(-1)
    for value in range(whole[1]):
        if counts[value] > 0:
            if high < low:
                low = value
            high = value
    spread = numbers[high] - numbers[low] if high >= low else np.int64(-1)
    return max(np.int64(0), whole[0] - spread)


@kernel
def _variance(counts, real):
    least, numbers = real[0], real[1:]
    size, total = 0, 0.0
    for value in range(numbers.shape[0]):
        size += counts[value]
        total += counts[value] * numbers[value]
    if size == 0:
        return np.int64(GRAIN)
    mean = total / size
    squares = 0.0
    for value in range(numbers.shape[0]):
        squares += counts[value] * (numbers[value] - mean) ** 2
    missing = least - squares / size
    return np.int64(np.ceil(missing / least * GRAIN)) if missing > SLACK * least else np.int64(0)


@kernel
def _windows(counts, size, whole):
    parts, m = whole[0], counts.shape[0]
    before = np.zeros(m + 1, np.int64)
    for value in range(m):
        before[value + 1] = before[value] + counts[value]
    broken = np.int64(0)
    for value in range(m):
        if counts[value] > 0:
            inside = before[whole[1 + m + value] + 1] - before[whole[1 + value]]
            broken += max(np.int64(0), inside * parts - size)
    return broken


@kernel
def _dissimilar(counts, size, whole):
    up, down, m = whole[0], whole[1], counts.shape[0]
    broken = np.int64(0)
    for value in range(m):
        if counts[value] == 0:
            continue
        near = np.int64(0)
        for other in range(m):
            near += counts[other] * whole[2 + value * m + other]
        broken += max(np.int64(0), up * (size - 1) - down * (size - near))
    return broken


@kernel
def broken_by(
    rules,  # IN   Rules
    counts,  # IN   int64[values of all columns]
    size,  # IN   int, records of the class
):
    """By how much a class breaks all rules together; 0 for one that keeps them."""
    broken = np.int64(0)
    for rule in range(rules.kind.shape[0]):
        column = rules.column[rule]
        some = counts[rules.first[column] : rules.first[column + 1]]
        whole = rules.whole[rules.whole_at[rule] : rules.whole_at[rule + 1]]
        real = rules.real[rules.real_at[rule] : rules.real_at[rule + 1]]
        kind = rules.kind[rule]
        if kind == SHARES:
            broken += _shares(some, size, whole)
        elif kind == DISTINCT:
            broken += _distinct(some, whole)
        elif kind == ENTROPY:
            broken += _entropy(some, size, real[0])
        elif kind == RECURSIVE:
            broken += _recursive(some, whole)
        elif kind == DISTANCE:
            broken += _distance(some, size, whole)
        elif kind == RANGE:
            broken += _range(some, whole)
        elif kind == VARIANCE:
            broken += _variance(some, real)
        elif kind == WINDOWS:
            broken += _windows(some, size, whole)
        elif kind == DISSIMILAR:
            broken += _dissimilar(some, size, whole)
    return broken
