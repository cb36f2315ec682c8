"""KACA: classes smaller than k join the class of least distance, whole or in part.

The members of a class are a chain of pieces; a piece is some copies of one distinct row. A class
whose members all moved to another one is dead, and no longer in `live`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.boxes import NEVER, Boxes, add_to_box, empty_boxes
from kohort.kernels.costs import span_cost
from kohort.kernels.jit import inner, kernel

NEARBY = 8
"""Classes on either side, in order, that are looked at first for a distance to beat."""

# Places in `counts`.
LIVE = 0  # classes that have members
SMALL = 1  # those with fewer than k
MERGES = 2  # done so far
PIECES = 3  # in use


class Classes(NamedTuple):
    """The classes and their members."""

    boxes: Boxes
    head: NDArray[np.int32]
    """First piece of each class, or -1."""
    row: NDArray[np.int32]
    """Distinct row of each piece."""
    copies: NDArray[np.int64]
    """Records of each piece."""
    after: NDArray[np.int32]
    """Next piece of the same class, or -1."""
    live: NDArray[np.int32]
    """Classes that have members, ascending."""
    small: NDArray[np.int32]
    """Those with fewer than k, ascending."""
    counts: NDArray[np.int64]
    """LIVE, SMALL, MERGES, PIECES."""


def exact_classes(codes: NDArray[np.int32], costs, sizes: NDArray[np.int64], k: int) -> Classes:
    """One class per distinct row."""
    m, d = codes.shape
    small = np.flatnonzero(sizes < k).astype(np.int32)
    # A merge adds at most one piece, and there are no more merges than small classes.
    room = m + len(small)
    classes = Classes(
        boxes=empty_boxes(m, d),
        head=np.arange(m, dtype=np.int32),
        row=np.arange(room, dtype=np.int32),
        copies=np.append(sizes, np.zeros(room - m, np.int64)),
        after=np.full(room, -1, np.int32),
        live=np.arange(m, dtype=np.int32),
        small=small,
        counts=np.array([m, len(small), 0, m], np.int64),
    )
    _fill(codes, costs, classes)
    return classes


@kernel
def _fill(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    classes,  # IN/OUT Classes
):
    """Compute the boxes of the exact classes."""
    for row in range(codes.shape[0]):
        add_to_box(classes.boxes, row, costs, codes[row], classes.copies[row])


@kernel
def spread(
    codes,  # IN   int32[m, d], distinct rows in lexicographic order
    costs,  # IN   Costs
    total,  # OUT  int64[d]
):
    """Cost of each axis, summed over pairs of rows that lie half the table apart."""
    m, d = codes.shape
    for row in range(m):
        other = (row + m // 2) % m
        for axis in range(d):
            a = codes[row, axis]
            b = codes[other, axis]
            total[axis] += span_cost(costs, axis, min(a, b), max(a, b))


@inner
def _distance(
    boxes,  # IN   Boxes
    costs,  # IN   Costs
    k,  # IN   int
    small,  # IN   int, a class with fewer than k records
    other,  # IN   int, another class
    least,  # IN   int, a distance that is of no interest any more
):
    """Distance of a small class to another, or to its stub; cut short where it reaches `least`."""
    n = boxes.sizes[small]
    joining = boxes.sizes[other]
    if n + joining >= 2 * k:
        joining = k - n
    total = 0
    axis = 0
    d = boxes.lows.shape[1]
    while total < least and axis < d:
        lo = boxes.lows[small, axis]
        hi = boxes.highs[small, axis]
        other_lo = boxes.lows[other, axis]
        other_hi = boxes.highs[other, axis]
        if lo != other_lo or hi != other_hi:
            both = span_cost(costs, axis, min(lo, other_lo), max(hi, other_hi))
            total += n * (both - boxes.sides[small, axis]) + joining * (both - boxes.sides[other, axis])
        axis += 1
    return total


@inner
def _nearest(
    boxes,  # IN   Boxes
    costs,  # IN   Costs
    k,  # IN   int
    small,  # IN   int, a class
    live,  # IN   int32[], at least two classes, ascending
):
    """Find the class of least distance, the first of equals."""
    # Similar rows are often neighbours: they give a distance to beat, and decide nothing.
    here = np.searchsorted(live, small)
    least = NEVER
    for index in range(max(0, here - NEARBY), min(live.shape[0], here + NEARBY + 1)):
        if index != here:
            least = min(least, _distance(boxes, costs, k, small, live[index], least))
    least += 1
    best = -1
    for other in live:
        if other != small:
            distance = _distance(boxes, costs, k, small, other, least)
            if distance < least:
                least = distance
                best = other
    return best


@inner
def _remove(
    ascending,  # IN/OUT int32[]
    count,  # IN   int, how many of them count
    value,  # IN   int
):
    """Take a value out, if it is there; returns how many are left."""
    place = np.searchsorted(ascending[:count], value)
    if place == count or ascending[place] != value:
        return count
    for index in range(place, count - 1):
        ascending[index] = ascending[index + 1]
    return count - 1


@inner
def _cheapest_piece(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    classes,  # IN   Classes
    small,  # IN   int, the class that is to grow
    other,  # IN   int, the class to take from
):
    """Find the piece whose row enlarges a box least, the lowest row of equals; and the one before it."""
    lows, highs = classes.boxes.lows, classes.boxes.highs
    least = NEVER
    best = -1
    before_best = -1
    before = -1
    piece = classes.head[other]
    while piece >= 0:
        row = classes.row[piece]
        cost = 0
        for axis in range(codes.shape[1]):
            code = codes[row, axis]
            cost += span_cost(costs, axis, min(lows[small, axis], code), max(highs[small, axis], code))
        if cost < least or (cost == least and row < classes.row[best]):
            least = cost
            best = piece
            before_best = before
        before = piece
        piece = classes.after[piece]
    return best, before_best


@inner
def _join(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    classes,  # IN/OUT Classes
    into,  # IN   int, a class
    gone,  # IN   int, the class that ends
):
    """Move all members of one class to another."""
    piece = classes.head[gone]
    while piece >= 0:
        following = classes.after[piece]
        add_to_box(classes.boxes, into, costs, codes[classes.row[piece]], classes.copies[piece])
        classes.after[piece] = classes.head[into]
        classes.head[into] = piece
        piece = following
    classes.head[gone] = -1
    classes.boxes.sizes[gone] = 0
    classes.boxes.cost[gone] = NEVER


@inner
def _take_stub(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    classes,  # IN/OUT Classes
    k,  # IN   int
    small,  # IN   int, the class that grows to k
    other,  # IN   int, the class that has more than enough
):
    """Move as many members as a small class needs; what stays is the trunk, in a box of its own size."""
    boxes = classes.boxes
    while boxes.sizes[small] < k:
        piece, before = _cheapest_piece(codes, costs, classes, small, other)
        row = classes.row[piece]
        need = k - boxes.sizes[small]
        moved = piece
        if classes.copies[piece] > need:
            moved = classes.counts[PIECES]
            classes.counts[PIECES] += 1
            classes.row[moved] = row
            classes.copies[moved] = need
            classes.copies[piece] -= need
        elif before >= 0:
            classes.after[before] = classes.after[piece]
        else:
            classes.head[other] = classes.after[piece]
        classes.after[moved] = classes.head[small]
        classes.head[small] = moved
        add_to_box(boxes, small, costs, codes[row], classes.copies[moved])
    boxes.sizes[other] = 0
    piece = classes.head[other]
    while piece >= 0:
        add_to_box(boxes, other, costs, codes[classes.row[piece]], classes.copies[piece])
        piece = classes.after[piece]


@kernel
def merge_classes(
    codes,  # IN   int32[m, d], distinct rows in lexicographic order
    costs,  # IN   Costs
    k,  # IN   int
    draws,  # IN   float64[], in [0, 1), one per merge
    step,  # IN   int, distances after which to return
    classes,  # IN/OUT Classes
):
    """Let small classes join others until none is left, or for some time."""
    boxes, counts = classes.boxes, classes.counts
    looked = 0
    while counts[SMALL] > 0 and counts[LIVE] > 1 and looked < step:
        small = classes.small[int(draws[counts[MERGES]] * counts[SMALL])]
        looked += counts[LIVE]
        counts[MERGES] += 1
        other = _nearest(boxes, costs, k, small, classes.live[: counts[LIVE]])
        if boxes.sizes[small] + boxes.sizes[other] >= 2 * k:
            _take_stub(codes, costs, classes, k, small, other)
            counts[SMALL] = _remove(classes.small, counts[SMALL], small)
            continue
        into = min(small, other)
        gone = max(small, other)
        _join(codes, costs, classes, into, gone)
        counts[LIVE] = _remove(classes.live, counts[LIVE], gone)
        counts[SMALL] = _remove(classes.small, counts[SMALL], gone)
        if boxes.sizes[into] >= k:
            counts[SMALL] = _remove(classes.small, counts[SMALL], into)


@kernel
def label_members(
    classes,  # IN   Classes
    first,  # IN   int64[m], position of the first copy of a row
    labels,  # OUT  int32[n], class of each copy, numbered from 0
):
    """Give the copies of a row, in order, to the classes that have some of them."""
    position = first.copy()
    for label in range(classes.counts[LIVE]):
        piece = classes.head[classes.live[label]]
        while piece >= 0:
            row = classes.row[piece]
            for _ in range(classes.copies[piece]):
                labels[position[row]] = label
                position[row] += 1
            piece = classes.after[piece]
