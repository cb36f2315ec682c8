"""Cost of the pair {seed, row} for all rows at once.

With the seed fixed, the cost of an axis depends on the row's code alone. Axes with few codes
are packed together into one code, so that one look-up serves several of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.costs import RANGES, span_cost
from kohort.kernels.jit import kernel

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


@kernel
def _fill_side(
    costs,  # IN   Costs
    axis,  # IN   int
    code,  # IN   int, code of the seed
    side,  # OUT  int32[size of the axis], cost of {seed, other} on this axis
):
    size = costs.size[axis]
    if costs.kind[axis] != RANGES:
        for other in range(size):
            side[other] = span_cost(costs, axis, min(code, other), max(code, other))
        return
    # A large taxonomy: the largest cost between neighbours, walking away from the seed.
    start = costs.offset[axis]
    between = start + size
    side[code] = costs.flat[start + code]
    worst = np.int32(0)
    for other in range(code + 1, size):
        worst = max(worst, costs.flat[between + other - 1])
        side[other] = worst
    worst = np.int32(0)
    for other in range(code - 1, -1, -1):
        worst = max(worst, costs.flat[between + other])
        side[other] = worst


@kernel
def scan_from(
    costs,  # IN   Costs
    packs,  # IN   Packs
    live,  # IN   int, number of columns of packs.codes in use
    seed,  # IN   int32[d], codes of the seed
    positions,  # IN   int32[packs], positions of the seed on subtracted lines
    table,  # TMP  int32[largest pack]
    side,  # TMP  int32[largest axis]
    distance,  # OUT  int32[live]
):
    """Cost of {seed, row} for the first `live` rows."""
    for index in range(packs.size.shape[0]):
        column = packs.codes[index]
        if packs.size[index] == 0:
            axis = packs.axes[packs.first[index]]
            here = positions[index]
            full = costs.full[axis]
            for i in range(live):
                there = column[i]
                step = abs(there - here)
                if (there < 0) != (here < 0):
                    step = full
                distance[i] = step if index == 0 else distance[i] + step
            continue
        # The costs of a pack's codes are the sums of those of its axes, in the order of packing.
        table[0] = 0
        filled = 1
        for position in range(packs.first[index], packs.first[index + 1]):
            axis = packs.axes[position]
            _fill_side(costs, axis, seed[axis], side)
            width = costs.size[axis]
            for block in range(filled - 1, -1, -1):
                base = table[block]
                for other in range(width):
                    table[block * width + other] = base + side[other]
            filled *= width
        if index == 0:
            for i in range(live):
                distance[i] = table[column[i]]
        else:
            for i in range(live):
                distance[i] += table[column[i]]
