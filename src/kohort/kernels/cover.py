"""How many weighted points lie in each of some boxes."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import kernel


@kernel
def count_covered(
    first,  # IN   int32[boxes, d]
    last,  # IN   int32[boxes, d]
    points,  # IN   int32[points, d], ascending by their first coordinate
    counts,  # IN   int64[points]
):
    """Add up the counts of the points in each box."""
    covered = np.zeros(len(first), np.int64)
    for box in range(len(first)):
        begin = np.searchsorted(points[:, 0], first[box, 0], "left")
        end = np.searchsorted(points[:, 0], last[box, 0], "right")
        for point in range(begin, end):
            inside = True
            for axis in range(1, points.shape[1]):
                inside = inside and first[box, axis] <= points[point, axis] <= last[box, axis]
            if inside:
                covered[box] += counts[point]
    return covered
