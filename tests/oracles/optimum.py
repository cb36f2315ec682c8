"""The least loss of any partition into classes of at least k, by looking at every subset of the records."""

from __future__ import annotations

import numpy as np

from kohort.measures.loss import cell_costs


def least_loss(codes, measure, k):
    """The optimum, exact; for a dozen records.

    A set of records is a bit mask. The record of the lowest bit lies in some class: whichever that
    is, the rest is a smaller problem that has been solved before.
    """
    n = len(codes.array)
    masks = np.arange(2**n)
    costs = class_costs(codes, measure)
    costs[[mask.bit_count() < k for mask in range(2**n)]] = np.inf
    classes = [masks[(masks & -masks == 1 << bit) & np.isfinite(costs)] for bit in range(n)]
    best = np.full(2**n, np.inf)
    best[0] = 0
    for rest in range(1, 2**n):
        own = classes[(rest & -rest).bit_length() - 1]
        own = own[own & ~rest == 0]
        if len(own):
            best[rest] = (costs[own] + best[rest ^ own]).min()
    return float(best[-1]) / n


def class_costs(codes, measure):
    """Loss of every set of records as one class: the sum over its records."""
    n, d = codes.array.shape
    masks = np.arange(2**n)
    lo, hi = np.full((2**n, d), 2**30, np.int32), np.full((2**n, d), -1, np.int32)
    for mask in range(1, 2**n):
        first, rest = codes.array[(mask & -mask).bit_length() - 1], mask & (mask - 1)
        lo[mask], hi[mask] = np.minimum(lo[rest], first), np.maximum(hi[rest], first)
    costs = np.zeros(2**n)
    weight = sum(axis.weight for axis in codes.axes)
    for record in range(n):
        having = masks[masks >> record & 1 == 1]
        for j, axis in enumerate(codes.axes):
            costs[having] += axis.weight / weight * cell_costs(measure, axis, lo[having, j], hi[having, j])
    return costs
