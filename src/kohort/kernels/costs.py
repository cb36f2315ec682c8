"""Cost of a box, axis by axis, in fixed point (`kohort.measures.scale`).

`Costs` is the compiled form of a loss measure. Kernels see only these arrays, so they serve
any measure. Every cost is monotone: a box inside another never costs more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import inner, kernel

# Kinds of axes.
LINE = 0  # numbers and dates: difference of positions
TABLE = 1  # a taxonomy small enough for a table of all (lo, hi)
RANGES = 2  # a large taxonomy: range maximum over the costs between neighbouring leaves


class Costs(NamedTuple):
    """A measure compiled for the axes of one table."""

    kind: NDArray[np.int32]
    """LINE, TABLE or RANGES, per axis."""
    size: NDArray[np.int64]
    """Number of codes, per axis; the code of a missing value included."""
    missing: NDArray[np.int64]
    """Code of a missing value on a LINE, or -1."""
    full: NDArray[np.int32]
    """Cost of a fully generalized value, per axis."""
    offset: NDArray[np.int64]
    """Where the numbers of an axis begin in `flat`."""
    flat: NDArray[np.int32]
    """LINE: position of each code, -1 for missing. TABLE: size x size. RANGES: one row per power of two."""


@kernel
def span_cost(
    costs,  # IN   Costs
    axis,  # IN   int
    lo,  # IN   int, smallest code of the box
    hi,  # IN   int, largest code of the box
):
    """Cost of one side of a box."""
    start = costs.offset[axis]
    kind = costs.kind[axis]
    if kind == TABLE:
        return costs.flat[start + lo * costs.size[axis] + hi]
    if kind == LINE:
        if hi == costs.missing[axis]:
            return np.int32(0) if lo == hi else costs.full[axis]
        return costs.flat[start + hi] - costs.flat[start + lo]
    if lo == hi:
        return costs.flat[start + lo]
    width = 1
    row = 1
    while 2 * width <= hi - lo:
        width *= 2
        row += 1
    line = start + row * costs.size[axis]
    return max(costs.flat[line + lo], costs.flat[line + hi - width])


@inner
def box_cost_with(
    costs,  # IN   Costs
    lo,  # IN   int32[d], box
    hi,  # IN   int32[d]
    row,  # IN   int32[d], a record
):
    """Cost of the smallest box that holds a box and a record."""
    total = 0
    for axis in range(lo.shape[0]):
        code = row[axis]
        total += span_cost(costs, axis, min(lo[axis], code), max(hi[axis], code))
    return total


@kernel
def box_cost(
    costs,  # IN   Costs
    lo,  # IN   int32[d], box
    hi,  # IN   int32[d]
):
    """Cost of a box."""
    total = 0
    for axis in range(lo.shape[0]):
        total += span_cost(costs, axis, lo[axis], hi[axis])
    return total
