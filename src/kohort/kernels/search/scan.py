"""Cost of a box with each row, for all rows at once; a single seed is a box, too.

With the box fixed, the cost of an axis depends on the row's code alone. Axes with few codes
are packed together into one code, so that one look-up serves several of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.costs import RANGES, span_cost
from kohort.kernels.jit import inner

PACK_LIMIT = 1024
"""Largest number of codes of a pack: its table of costs stays in the first-level cache."""
LINE_LIMIT = 8192
"""A line with more codes than this is scanned by subtraction, without a table."""


class Packs(NamedTuple):
    """Axes grouped for scanning: one code per pack and row."""

    axes: NDArray[np.int32]
    """Axes, pack after pack."""
    first: NDArray[np.int64]
    """Where the axes of a pack begin in `axes`; one more than there are packs."""
    size: NDArray[np.int64]
    """Number of codes of a pack; 0 for a line that is scanned by subtraction."""
    codes: NDArray[np.int32]
    """Code of each row, shape (packs, rows); for a subtracted line its position, missing -1."""


def pack(codes: NDArray[np.int32], sizes: NDArray[np.int64], lines: list[NDArray[np.int32] | None]) -> Packs:
    """Group the axes.

    Parameters
    ----------
    codes : int32[m, d]
        Rows.
    sizes : int64[d]
        Number of codes of each axis.
    lines : list
        For a LINE axis the position of each code with -1 for the missing one, else None.
    """
    wide = [axis for axis, line in enumerate(lines) if line is not None and sizes[axis] > LINE_LIMIT]
    groups: list[list[int]] = []
    room: list[int] = []
    # First fit, largest first: few packs, and packs of even size.
    for axis in sorted(set(range(len(sizes))) - set(wide), key=lambda axis: -int(sizes[axis])):
        size = int(sizes[axis])
        for index, left in enumerate(room):
            if size <= left:
                groups[index].append(axis)
                room[index] = left // size
                break
        else:
            groups.append([axis])
            room.append(PACK_LIMIT // size)
    groups += [[axis] for axis in wide]
    packed = np.empty((len(groups), codes.shape[0]), np.int32)
    pack_sizes = np.zeros(len(groups), np.int64)
    for index, group in enumerate(groups):
        line = lines[group[0]]
        if group[0] in wide and line is not None:
            packed[index] = line[codes[:, group[0]]]
            continue
        packed[index] = 0
        for axis in group:
            packed[index] = packed[index] * np.int32(sizes[axis]) + codes[:, axis]
        pack_sizes[index] = np.prod([sizes[axis] for axis in group])
    first = np.cumsum([0] + [len(group) for group in groups])
    return Packs(np.array([axis for group in groups for axis in group], np.int32), first, pack_sizes, packed)


@inner
def _fill_side(
    costs,  # IN   Costs
    axis,  # IN   int
    lo,  # IN   int, smallest code of the box
    hi,  # IN   int, largest code of the box
    side,  # OUT  int32[size of the axis], cost of the box with each code on this axis
):
    size = costs.size[axis]
    if costs.kind[axis] != RANGES:
        for other in range(size):
            side[other] = span_cost(costs, axis, min(lo, other), max(hi, other))
        return
    # A large taxonomy: the largest cost between neighbours, walking away from the box.
    between = costs.offset[axis] + size
    inside = span_cost(costs, axis, lo, hi)
    side[lo : hi + 1] = inside
    worst = inside
    for other in range(hi + 1, size):
        worst = max(worst, costs.flat[between + other - 1])
        side[other] = worst
    worst = inside
    for other in range(lo - 1, -1, -1):
        worst = max(worst, costs.flat[between + other])
        side[other] = worst


@inner
def _add_line(
    costs,  # IN   Costs
    axis,  # IN   int
    lo,  # IN   int, smallest code of the box
    hi,  # IN   int, largest code of the box
    column,  # IN   int32[rows], positions
    live,  # IN   int
    distance,  # IN/OUT int32[live]
):
    """Add the costs of a line that is scanned by subtraction."""
    low = costs.flat[costs.offset[axis] + lo]
    high = costs.flat[costs.offset[axis] + hi]
    full = costs.full[axis]
    if high < 0:  # the box holds a missing value, and maybe others
        for i in range(live):
            distance[i] += full if low >= 0 or column[i] >= 0 else 0
        return
    for i in range(live):
        there = column[i]
        distance[i] += full if there < 0 else max(high, there) - min(low, there)


@inner
def scan_box(
    costs,  # IN   Costs
    packs,  # IN   Packs
    live,  # IN   int, number of columns of packs.codes in use
    lo,  # IN   int32[d], box
    hi,  # IN   int32[d]
    table,  # TMP  int32[largest pack]
    side,  # TMP  int32[largest axis]
    distance,  # OUT  int32[live]
):
    """Cost of the box with each of the first `live` rows."""
    distance[:live] = 0
    for index in range(packs.size.shape[0]):
        column = packs.codes[index]
        if packs.size[index] == 0:
            axis = packs.axes[packs.first[index]]
            _add_line(costs, axis, lo[axis], hi[axis], column, live, distance)
            continue
        # The costs of a pack's codes are the sums of those of its axes, in the order of packing.
        table[0] = 0
        filled = 1
        for position in range(packs.first[index], packs.first[index + 1]):
            axis = packs.axes[position]
            _fill_side(costs, axis, lo[axis], hi[axis], side)
            width = costs.size[axis]
            for block in range(filled - 1, -1, -1):
                base = table[block]
                for other in range(width):
                    table[block * width + other] = base + side[other]
            filled *= width
        for i in range(live):
            distance[i] += table[column[i]]


@inner
def scan_from(
    costs,  # IN   Costs
    packs,  # IN   Packs
    live,  # IN   int
    seed,  # IN   int32[d]
    table,  # TMP  int32[largest pack]
    side,  # TMP  int32[largest axis]
    distance,  # OUT  int32[live]
):
    """Cost of {seed, row} for the first `live` rows."""
    scan_box(costs, packs, live, seed, seed, table, side, distance)
