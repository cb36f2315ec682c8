"""Rings of records: their order, and a random way to give every record one of the boxes that hold it."""

from __future__ import annotations

import numpy as np

from kohort.kernels.costs import span_cost
from kohort.kernels.jit import inner, kernel

REACH = 1024
"""Records among which the nearest is looked for: those of its group that come first in the order of codes."""
OFFSETS = 32
"""Places in a box among which a matching is drawn; of more places, this number is drawn first."""


@kernel
def order_rings(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    ends,  # IN   int64[n], where the group at each position ends
    start,  # IN   int, first position of this call
    stop,  # IN   int, position after the last one
    members,  # IN/OUT int32[n], records, group after group
):
    """Let the record nearest to it follow every record of a group, the first of equals."""
    for position in range(start, stop):
        here = codes[members[position]]
        least = 2**62
        best = position + 1
        for other in range(position + 1, min(position + 1 + REACH, ends[position])):
            there = codes[members[other]]
            distance = 0
            axis = 0
            while distance < least and axis < here.shape[0]:
                if here[axis] != there[axis]:
                    distance += span_cost(costs, axis, min(here[axis], there[axis]), max(here[axis], there[axis]))
                axis += 1
            if distance < least:
                least = distance
                best = other
            if least == 0:
                break
        if best < ends[position]:
            record = members[best]
            for other in range(best, position + 1, -1):
                members[other] = members[other - 1]
            members[position + 1] = record


@inner
def _draw(
    state,  # IN/OUT uint64[1]
    count,  # IN   int
):
    """Draw one of 0..count - 1 with SplitMix64; numba takes half a minute to compile NumPy's generator."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return np.int64(((mixed >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@kernel
def draw_matchings(
    begins,  # IN   int64[groups + 1], where each group begins; at last, n
    k,  # IN   int
    first,  # IN   int, first group of this call
    last,  # IN   int, group after the last one
    state,  # IN/OUT uint64[1], of the random numbers
    boxes,  # OUT  int64[n], box of the record at each position
):
    """Give every record of a group one of the k boxes that hold it, another one to each.

    Box b of a ring of m holds the records b, b + 1, ..., b + k - 1 (mod m), so record r has the
    choice of k boxes, by the place that it has in them. Drawn matchings share no edge, and which
    of them counts is drawn evenly: so each of the k boxes has a chance of 1/k.
    """
    for group in range(first, last):
        begin = begins[group]
        m = begins[group + 1] - begin
        offsets = _some_offsets(k, state)
        used = np.zeros((m, len(offsets)), np.bool_)
        choice = np.empty(m, np.int64)
        for _ in range(1 + _draw(state, len(offsets))):
            _draw_matching(m, offsets, state, used, choice)
        for record in range(m):
            boxes[begin + record] = begin + (record - offsets[choice[record]]) % m


@inner
def _some_offsets(
    k,  # IN   int
    state,  # IN/OUT uint64[1], of the random numbers
):
    """Draw as many places in a box as count: all if they are few, each as likely as another."""
    places = np.arange(k)
    some = min(k, OFFSETS)
    for index in range(some):
        other = index + _draw(state, k - index)
        places[index], places[other] = places[other], places[index]
    return places[:some]


@inner
def _draw_matching(
    m,  # IN   int, size of the ring
    offsets,  # IN   int64[c], places in a box that a record may have
    state,  # IN/OUT uint64[1], of the random numbers
    used,  # IN/OUT bool[m, c], edges of earlier matchings
    choice,  # OUT  int64[m], which offset each record has
):
    """Draw a perfect matching of the edges that are left, as many at every record and every box.

    Record after record walks at random until it meets a free box, then those that it met on the
    way move on to the box that they left to: in expectation O(m log m) steps (Goel, Kapralov,
    Khanna 2010).
    """
    choice[:] = -1
    owner = np.full(m, -1, np.int64)
    left_to = np.empty(m, np.int64)
    for start in range(m):
        record = start
        while record >= 0:
            edge = _draw(state, len(offsets))
            while used[record, edge] or edge == choice[record]:
                edge = _draw(state, len(offsets))
            # A record that is met again forgets where it left to before: the way has no loops.
            left_to[record] = edge
            record = owner[(record - offsets[edge]) % m]
        record = start
        while record >= 0:
            edge = left_to[record]
            box = (record - offsets[edge]) % m
            before = owner[box]
            owner[box] = record
            choice[record] = edge
            record = before
    for record in range(m):
        used[record, choice[record]] = True
