"""One-pass k-means: clusters with a centre that moves with each record that joins.

On a line the centre is the mean of the members' positions, rounded down, or -1 as long as every
member misses its value. On a taxonomy it is the most frequent code, the first of equals. When a
record joins, the centre moves towards it or stays; so equal records stay together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.boxes import NEVER
from kohort.kernels.costs import LINE, span_cost
from kohort.kernels.jit import inner, kernel


class Centres(NamedTuple):
    """Clusters with their centres; members are linked lists of runs of equal records."""

    centre: NDArray[np.int32]
    """Shape (clusters, d): position on a line, code on a taxonomy."""
    sums: NDArray[np.int64]
    """Shape (clusters, d), lines: sum of the positions of members that have one."""
    known: NDArray[np.int64]
    """Shape (clusters, d), lines: number of these."""
    sizes: NDArray[np.int64]
    head: NDArray[np.int64]
    """First run of each cluster, or -1; a run is called by the position of its first record."""
    after: NDArray[np.int64]
    """The run after a run, or -1."""
    copies: NDArray[np.int64]
    """Number of records of a run."""


def empty_centres(clusters: int, axes: int, records: int) -> Centres:
    """Clusters without members."""
    return Centres(
        centre=np.full((clusters, axes), -1, np.int32),
        sums=np.zeros((clusters, axes), np.int64),
        known=np.zeros((clusters, axes), np.int64),
        sizes=np.zeros(clusters, np.int64),
        head=np.full(clusters, -1, np.int64),
        after=np.full(records, -1, np.int64),
        copies=np.zeros(records, np.int64),
    )


@inner
def _nearest(
    costs,  # IN   Costs
    centre,  # IN   int32[clusters, d]
    row,  # IN   int32[d], a record
    some,  # IN   int32[], clusters to look at, ascending
    count,  # IN   int, how many of them
):
    """Find the nearest centre, the first of equals: its place in `some`, and the distance."""
    d = row.shape[0]
    best = -1
    least = NEVER
    for index in range(count):
        cluster = some[index]
        far = np.int64(0)
        axis = 0
        # A partial sum that reaches the least distance settles it.
        while far < least and axis < d:
            code = row[axis]
            middle = centre[cluster, axis]
            if costs.kind[axis] == LINE:
                position = costs.flat[costs.offset[axis] + code]
                far += costs.full[axis] if (position < 0) != (middle < 0) else abs(position - middle)
            else:
                far += span_cost(costs, axis, min(code, middle), max(code, middle))
            axis += 1
        if far < least:
            least = far
            best = index
    return best, least


@inner
def _join(
    codes,  # IN   int32[m, d], distinct rows
    row_of,  # IN   int32[n], row of each record
    costs,  # IN   Costs
    centres,  # IN/OUT Centres
    cluster,  # IN   int
    run,  # IN   int, first record of the run
    copies,  # IN   int, number of equal records
):
    """Let a run of equal records join a cluster, and move its centre."""
    centres.after[run] = centres.head[cluster]
    centres.head[cluster] = run
    centres.copies[run] = copies
    centres.sizes[cluster] += copies
    for axis in range(codes.shape[1]):
        code = codes[row_of[run], axis]
        middle = centres.centre[cluster, axis]
        if costs.kind[axis] == LINE:
            position = costs.flat[costs.offset[axis] + code]
            if position >= 0:
                centres.sums[cluster, axis] += copies * np.int64(position)
                centres.known[cluster, axis] += copies
                centres.centre[cluster, axis] = centres.sums[cluster, axis] // centres.known[cluster, axis]
        elif middle < 0:
            centres.centre[cluster, axis] = code
        elif middle != code:
            # Only the code that came can overtake the most frequent one.
            lead = 0
            other = centres.head[cluster]
            while other >= 0:
                if codes[row_of[other], axis] == code:
                    lead += centres.copies[other]
                elif codes[row_of[other], axis] == middle:
                    lead -= centres.copies[other]
                other = centres.after[other]
            if lead > 0 or (lead == 0 and code < middle):
                centres.centre[cluster, axis] = code


@kernel
def gather(
    codes,  # IN   int32[m, d]
    row_of,  # IN   int32[n]
    costs,  # IN   Costs
    records,  # IN   int64[], records that have a label
    labels,  # IN   int32[n]
    centres,  # IN/OUT Centres
):
    """Let records join the clusters of their labels."""
    for record in records:
        _join(codes, row_of, costs, centres, labels[record], record, 1)


@kernel
def place(
    codes,  # IN   int32[m, d]
    row_of,  # IN   int32[n]
    costs,  # IN   Costs
    k,  # IN   int
    records,  # IN   int64[], records to place, in this order
    vacant,  # IN/OUT int32[], clusters that must be filled up to k first, ascending
    vacancies,  # IN   int, how many of them there are
    centres,  # IN/OUT Centres
    labels,  # OUT  int32[n]
):
    """Give each record to the nearest vacant cluster, or to the nearest of all if none is vacant.

    Returns how many clusters are still vacant.
    """
    everything = np.arange(centres.sizes.shape[0]).astype(np.int32)
    start = 0
    while start < records.shape[0]:
        row = row_of[records[start]]
        stop = start + 1
        while stop < records.shape[0] and row_of[records[stop]] == row:
            stop += 1
        while start < stop:
            if vacancies == 0:
                slot, _ = _nearest(costs, centres.centre, codes[row], everything, everything.shape[0])
                best = everything[slot]
            else:
                slot, _ = _nearest(costs, centres.centre, codes[row], vacant, vacancies)
                best = vacant[slot]
            copies = stop - start
            if vacancies > 0:
                copies = min(copies, k - centres.sizes[best])
            _join(codes, row_of, costs, centres, best, records[start], copies)
            for index in range(start, start + copies):
                labels[records[index]] = best
            start += copies
            if vacancies > 0 and centres.sizes[best] == k:
                vacancies -= 1
                for index in range(slot, vacancies):
                    vacant[index] = vacant[index + 1]
    return vacancies


@kernel
def own_distances(
    codes,  # IN   int32[m, d]
    row_of,  # IN   int32[n]
    costs,  # IN   Costs
    labels,  # IN   int32[n]
    centres,  # IN   Centres
    far,  # OUT  int64[n], distance of each record from the centre of its cluster
):
    """How far each record is from its centre."""
    own = np.empty(1, np.int32)
    for record in range(labels.shape[0]):
        own[0] = labels[record]
        _, far[record] = _nearest(costs, centres.centre, codes[row_of[record]], own, 1)
