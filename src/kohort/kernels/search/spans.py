"""Cost of boxes at the speed that local search needs: no branches, and several axes at once.

Axes come in three sorts, in this order: small ones, whose costs are in a table of all (lo, hi);
lines, whose codes have been replaced by positions, so that a cost is a difference; and large
taxonomies, with the largest cost between neighbouring codes over every power of two. A missing
value on a line has a position so far away that its distance to any other is cut off at the full
cost.

Functions take the arrays one by one: to take one out of a tuple costs more than to look a cost up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.costs import span_cost
from kohort.kernels.jit import inlined, inner, kernel


class Spans(NamedTuple):
    """A measure compiled for the axes of one table, in their new order."""

    flat: NDArray[np.int32]
    """Tables of all (lo, hi), and of ranges, one after the other."""
    offset: NDArray[np.int32]
    """Where the table of an axis begins."""
    size: NDArray[np.int32]
    """Number of codes of an axis."""
    full: NDArray[np.int32]
    """Cost of a fully generalized value."""
    tables: int
    """Axes before this one have a table of all (lo, hi)."""
    lines: int
    """Axes from `tables` to before this one are lines."""


@inner
def range_cost(
    flat,  # IN   int32[]
    start,  # IN   int, where the table of the axis begins
    size,  # IN   int
    lo,  # IN   int
    hi,  # IN   int
):
    """Cost of one side of a box on a large taxonomy."""
    if lo == hi:
        return flat[start + lo]
    width = 1
    row = 1
    while 2 * width <= hi - lo:
        width *= 2
        row += 1
    line = start + row * size
    return max(flat[line + lo], flat[line + hi - width])


@inlined
def cost_of(
    flat,  # IN   Spans, one by one
    offset,
    size,
    full,
    tables,
    lines,
    lo,  # IN   int32[d]
    hi,  # IN   int32[d]
):
    """Cost of a box."""
    total = np.int32(0)
    for axis in range(tables):
        total += flat[np.uint32(offset[axis] + lo[axis] * size[axis] + hi[axis])]
    for axis in range(tables, lines):
        total += min(hi[axis] - lo[axis], full[axis])
    for axis in range(lines, lo.shape[0]):
        total += range_cost(flat, offset[axis], size[axis], lo[axis], hi[axis])
    return np.int64(total)


@inlined
def cost_with(
    flat,  # IN   Spans, one by one
    offset,
    size,
    full,
    tables,
    lines,
    lo,  # IN   int32[d]
    hi,  # IN   int32[d]
    row,  # IN   int32[d]
):
    """Cost of a box that takes in a row."""
    total = np.int32(0)
    for axis in range(tables):
        place = row[axis]
        total += flat[np.uint32(offset[axis] + min(lo[axis], place) * size[axis] + max(hi[axis], place))]
    for axis in range(tables, lines):
        place = row[axis]
        total += min(max(hi[axis], place) - min(lo[axis], place), full[axis])
    for axis in range(lines, row.shape[0]):
        place = row[axis]
        total += range_cost(flat, offset[axis], size[axis], min(lo[axis], place), max(hi[axis], place))
    return np.int64(total)


@kernel
def all_pairs(
    costs,  # IN   Costs
    axis,  # IN   int
):
    """Cost of every (lo, hi) of an axis."""
    size = costs.size[axis]
    table = np.zeros((size, size), np.int32)
    for lo in range(size):
        for hi in range(lo, size):
            table[lo, hi] = span_cost(costs, axis, lo, hi)
    return table
