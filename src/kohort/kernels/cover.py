"""Points in boxes: how many lie in each, and what they are like there."""

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


@kernel
def spread_inside(
    first,  # IN   int32[boxes, d]
    last,  # IN   int32[boxes, d]
    points,  # IN   int32[points, d], ascending by their first coordinate
    offset,  # IN   int64[d + 1], where the coordinates of an axis begin among all
    low,  # OUT  int32[boxes, d], smallest coordinate of the points in a box; that of the box if it has none
    high,  # OUT  int32[boxes, d]
    distinct,  # OUT  int64[boxes, d], number of different coordinates; 0 if the box has no point
):
    """The extent of the points in each box, axis by axis."""
    d = points.shape[1]
    seen = np.full(offset[d], -1, np.int64)
    distinct[:] = 0
    low[:] = first
    high[:] = last
    for box in range(len(first)):
        begin = np.searchsorted(points[:, 0], first[box, 0], "left")
        end = np.searchsorted(points[:, 0], last[box, 0], "right")
        for point in range(begin, end):
            inside = True
            for axis in range(1, d):
                inside = inside and first[box, axis] <= points[point, axis] <= last[box, axis]
            if not inside:
                continue
            for axis in range(d):
                code = points[point, axis]
                alone = distinct[box, axis] == 0
                low[box, axis] = code if alone else min(low[box, axis], code)
                high[box, axis] = code if alone else max(high[box, axis], code)
                if seen[offset[axis] + code] != box:
                    seen[offset[axis] + code] = box
                    distinct[box, axis] += 1
