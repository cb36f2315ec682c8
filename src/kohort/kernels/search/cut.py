"""The best cut of records in a given order into runs of k to 2k - 1."""

from __future__ import annotations

import numpy as np

from kohort.kernels.boxes import NEVER
from kohort.kernels.costs import span_cost
from kohort.kernels.jit import kernel


@kernel
def cut_into_runs(
    codes,  # IN   int32[m, d], rows
    row,  # IN   int32[n], row of each record, in their order
    costs,  # IN   Costs
    k,  # IN   int
    start,  # IN   int, first record of this call; those before have been done
    stop,  # IN   int, record after the last one
    least,  # IN/OUT int64[n + 1], least loss of the first i records; least[0] = 0, others NEVER
    previous,  # OUT  int32[n + 1], where the last run of that optimum begins
):
    """Extend the dynamic program by some records.

    A run of 2k and more can be cut without loss, so runs of k to 2k - 1 are enough: O(k d) for
    each record.
    """
    d = codes.shape[1]
    lo = np.empty(d, np.int32)
    hi = np.empty(d, np.int32)
    side = np.empty(d, np.int64)
    for end in range(max(start, k - 1), stop):
        cost = np.int64(0)
        for axis in range(d):
            lo[axis] = hi[axis] = codes[row[end], axis]
            side[axis] = span_cost(costs, axis, lo[axis], hi[axis])
            cost += side[axis]
        for begin in range(end, max(end - 2 * k + 2, 0) - 1, -1):
            for axis in range(d):
                code = codes[row[begin], axis]
                if code < lo[axis] or code > hi[axis]:
                    lo[axis] = min(lo[axis], code)
                    hi[axis] = max(hi[axis], code)
                    cost -= side[axis]
                    side[axis] = span_cost(costs, axis, lo[axis], hi[axis])
                    cost += side[axis]
            size = end + 1 - begin
            # A longer run costs more by itself than the best one that is known.
            if size * cost >= least[end + 1]:
                break
            if size >= k and least[begin] < NEVER:
                loss = least[begin] + size * cost
                if loss < least[end + 1]:
                    least[end + 1] = loss
                    previous[end + 1] = begin


@kernel
def label_runs(
    previous,  # IN   int32[n + 1]
    labels,  # OUT  int32[n], in the order of the records
):
    """Number the runs of the optimum from the last to the first; returns how many there are."""
    end = labels.shape[0]
    run = 0
    while end > 0:
        for record in range(previous[end], end):
            labels[record] = run
        run += 1
        end = previous[end]
    return run
