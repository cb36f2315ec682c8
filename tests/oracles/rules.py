"""Rules of privacy models, read as their constructors document them, for one class of counts."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np

from kohort.privacy import rules as kinds

SLACK = 1e-9


def holds(rule, counts):
    """Whether a class with so many records of each value keeps a rule."""
    counts = np.asarray(counts).tolist()
    return _KINDS[rule.kind](counts, sum(counts), rule.whole.tolist(), rule.real.tolist())


def _shares(counts, n, whole, real):
    common, strict, skip, *limits = whole
    upper, lower = limits[: len(counts)], limits[len(counts) :]
    margins = [most * n - c * common for c, most in zip(counts, upper, strict=True)]
    margins += [c * common - least * n for c, least in zip(counts, lower, strict=True) if c or not skip]
    return min(margins) > 0 if strict else min(margins) >= 0


def _distinct(counts, n, whole, real):
    least, known = whole
    return sum(c > 0 for c in counts[:known]) >= least


def _entropy(counts, n, whole, real):
    return log(n) - sum(c * log(c) for c in counts if c) / n >= log(real[0]) - SLACK


def _recursive(counts, n, whole, real):
    above, below, rank = whole
    ranked = sorted(counts, reverse=True)
    return ranked[0] * below < above * sum(ranked[rank - 1 :])


def _distance(counts, n, whole, real):
    above, below, unit, total, runs, *rest = whole
    first, after, weights, inside = (rest[i * runs : (i + 1) * runs] for i in range(4))
    work = sum(
        (
            weight * abs(Fraction(sum(counts[a:b]), n) - Fraction(there, total))
            for a, b, weight, there in zip(first, after, weights, inside, strict=True)
        ),
        Fraction(0),
    )
    return work / unit <= Fraction(above, below)


def _rough_distance(counts, n, whole, real):
    runs, *rest = whole
    most, unit, *shares = real
    first, after, weights = (rest[i * runs : (i + 1) * runs] for i in range(3))
    work = sum(
        weight * abs(sum(counts[a:b]) / n - there)
        for a, b, weight, there in zip(first, after, weights, shares, strict=True)
    )
    return work / unit <= most - SLACK


def _range(counts, n, whole, real):
    least, known, *numbers = whole
    there = [number for number, c in zip(numbers, counts[:known], strict=True) if c]
    return bool(there) and max(there) - min(there) >= least


def _variance(counts, n, whole, real):
    least, *numbers = real
    known = [number for number, c in zip(numbers, counts, strict=False) for _ in range(c)]
    return bool(known) and np.var(known) >= least * (1 - SLACK)


def _windows(counts, n, whole, real):
    parts, *ends = whole
    first, last = ends[: len(counts)], ends[len(counts) :]
    return all(sum(counts[a : b + 1]) * parts <= n for c, a, b in zip(counts, first, last, strict=True) if c)


def _dissimilar(counts, n, whole, real):
    above, below, limit, number, width, *rest = whole
    axes, rows = np.reshape(rest[: 3 * number], (number, 3)), np.reshape(rest[3 * number :], (len(counts), width))
    there = [value for value, count in enumerate(counts) if count]
    near = {
        one: [other for other in there if _distance_of(rows[one], rows[other], axes, one, other) <= limit]
        for one in there
    }
    return all((n - sum(counts[other] for other in near[one])) * below >= above * (n - 1) for one in there)


def _distance_of(one, other, axes, value, another):
    if not len(axes):
        return 0 if one[0] <= another <= one[1] else 1
    total, at = 0, 0
    for levels, step, full in axes:
        a, b = one[at : at + max(levels, 1)].tolist(), other[at : at + max(levels, 1)].tolist()
        at += max(levels, 1)
        if a == b:
            continue
        if min(a[0], b[0]) <= kinds.MISSING:
            total += full
        elif not levels:
            total += abs(a[0] - b[0])
        else:
            total += step * len({node for node in a if node != kinds.PAD} ^ {node for node in b if node != kinds.PAD})
    return total


_KINDS = {
    kinds.SHARES: _shares,
    kinds.DISTINCT: _distinct,
    kinds.ENTROPY: _entropy,
    kinds.RECURSIVE: _recursive,
    kinds.DISTANCE: _distance,
    kinds.ROUGH_DISTANCE: _rough_distance,
    kinds.RANGE: _range,
    kinds.VARIANCE: _variance,
    kinds.WINDOWS: _windows,
    kinds.DISSIMILAR: _dissimilar,
}
