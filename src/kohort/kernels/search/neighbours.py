"""Near rows of every row: candidates from sorted orders, then from the neighbours' neighbours.

Approximate on purpose: linear in the number of rows. Rows that differ in one axis alone stand side
by side in the order in which that axis comes last.
"""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import inlined, kernel
from kohort.kernels.search.spans import cost_with

NONE = np.int32(2**31 - 1)
"""Distance to a neighbour that is not there."""


@inlined
def _offer(
    near,  # IN/OUT int32[count], neighbours of a row, ascending by distance
    distance,  # IN/OUT int32[count]
    other,  # IN   int, a row
    cost,  # IN   int, its distance, less than the last one
):
    """Put a row among the neighbours of another, if it is not there yet."""
    last = near.shape[0] - 1
    known = False
    for place in range(last + 1):
        known |= near[place] == other
    if not known:
        place = last
        while place > 0 and distance[place - 1] > cost:
            distance[place] = distance[place - 1]
            near[place] = near[place - 1]
            place -= 1
        distance[place] = cost
        near[place] = other


@kernel
def neighbours_in_order(
    places,  # IN   int32[m, d]
    spans,  # IN   Spans
    order,  # IN   int64[m], rows in some sorted order
    reach,  # IN   int, how far to look on each side
    start,  # IN   int, first place of this call
    stop,  # IN   int, place after the last one
    near,  # IN/OUT int32[m, count], -1 where there is none yet
    distance,  # IN/OUT int32[m, count], NONE where there is none yet
):
    """Offer to each row of some places in an order those that stand near it."""
    flat, offset, size, full, tables, lines = spans
    m = places.shape[0]
    last = near.shape[1] - 1
    for place in range(start, stop):
        row = order[place]
        own = places[row]
        for other_place in range(max(0, place - reach), min(m, place + reach + 1)):
            if other_place == place:
                continue
            other = order[other_place]
            cost = cost_with(flat, offset, size, full, tables, lines, own, own, places[other])
            if cost < distance[row, last]:
                _offer(near[row], distance[row], other, cost)


@kernel
def find_fresh(
    earlier,  # IN   int32[m, count], neighbours before the last round
    before,  # IN   int32[m, count], neighbours after it
    start,  # IN   int, first row of this call
    stop,  # IN   int, row after the last one
    fresh,  # OUT  bool[m, (count + 1) // 2]
):
    """Say which of the nearest neighbours were not among the nearest before."""
    half = fresh.shape[1]
    for row in range(start, stop):
        for place in range(half):
            known = False
            for index in range(half):
                known |= earlier[row, index] == before[row, place]
            fresh[row, place] = not known


@kernel
def neighbours_of_neighbours(
    places,  # IN   int32[m, d]
    spans,  # IN   Spans
    before,  # IN   int32[m, count], neighbours so far
    fresh,  # IN   bool[m, (count + 1) // 2], those that are new since the last round
    start,  # IN   int, first row of this call
    stop,  # IN   int, row after the last one
    near,  # IN/OUT int32[m, count]
    distance,  # IN/OUT int32[m, count]
):
    """Offer to each row the nearest neighbours of its nearest neighbours; what was offered before is left out."""
    flat, offset, size, full, tables, lines = spans
    count = before.shape[1]
    half = fresh.shape[1]
    for row in range(start, stop):
        own = places[row]
        for place in range(half):
            middle = before[row, place]
            if middle < 0:
                break
            is_fresh = fresh[row, place]
            for index in range(half):
                other = before[middle, index]
                if other < 0:
                    break
                if other == row or not (is_fresh or fresh[middle, index]):
                    continue
                cost = cost_with(flat, offset, size, full, tables, lines, own, own, places[other])
                if cost < distance[row, count - 1]:
                    _offer(near[row], distance[row], other, cost)
