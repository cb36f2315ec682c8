"""Points in boxes: how many lie in each, in how many each lies, and what the points of a box are like."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import inner, kernel

_LEAF = 12
"""Points of a node that is not parted any more."""


@kernel
def cover(
    first,  # IN   int32[boxes, d]
    last,  # IN   int32[boxes, d]
    of_box,  # IN   int64[boxes], how often each box is there
    points,  # IN   int32[points, d]
    of_point,  # IN   int64[points], how often each point is there
):
    """Add up the counts of the points in each box, and of the boxes around each point.

    The points are in a k-d tree (Bentley, CACM 18(9), 1975). A node that a box does not touch is left alone, and one
    that it holds is counted as a whole, so most pairs of a point and a box are never looked at.
    """
    order, spans, children, low, high = _tree(points)
    within = np.zeros(len(spans), np.int64)
    for node in range(len(spans)):
        for place in range(spans[node, 0], spans[node, 1]):
            within[node] += of_point[order[place]]
    covered, covering = np.zeros(len(first), np.int64), np.zeros(len(points), np.int64)
    around, stack = np.zeros(len(spans), np.int64), np.empty(len(spans), np.int64)
    for box in range(len(first)):
        depth, stack[0] = min(1, len(spans)), 0
        while depth:
            depth -= 1
            node = stack[depth]
            touch = _touch(first[box], last[box], low[node], high[node])
            if touch == 2:
                covered[box] += within[node]
                around[node] += of_box[box]
            elif touch == 1 and children[node] >= 0:
                stack[depth], stack[depth + 1] = children[node], node + 1
                depth += 2
            elif touch == 1:
                for place in range(spans[node, 0], spans[node, 1]):
                    point = order[place]
                    if _touch(first[box], last[box], points[point], points[point]) == 2:
                        covered[box] += of_point[point]
                        covering[point] += of_box[box]
    for node in range(len(spans)):
        if around[node]:
            for place in range(spans[node, 0], spans[node, 1]):
                covering[order[place]] += around[node]
    return covered, covering


@inner
def _touch(
    first,  # IN   int32[d]
    last,  # IN   int32[d]
    low,  # IN   int32[d]
    high,  # IN   int32[d]
):
    """Whether a box holds all that lies between two corners (2), some of it perhaps (1), or nothing (0)."""
    found = 2
    for axis in range(len(low)):
        if high[axis] < first[axis] or last[axis] < low[axis]:
            return 0
        if low[axis] < first[axis] or last[axis] < high[axis]:
            found = 1
    return found


@inner
def _tree(
    points,  # IN   int32[points, d]
):
    """Part points in the middle of their widest axis, again and again, until few or equal ones are left.

    The first child of a node is the next node.

    Returns
    -------
    order, spans, children, low, high
        Points by node; begin and end of each node in them; its second child, -1 if it has none; its corners.
    """
    order = np.arange(len(points))
    most = max(2 * len(points), 1)
    spans, children = np.empty((most, 2), np.int64), np.full(most, -1, np.int64)
    low, high = np.empty((most, points.shape[1]), np.int32), np.empty((most, points.shape[1]), np.int32)
    nodes, depth, stack = 0, min(1, len(points)), np.empty((most, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, len(points), -1
    while depth:
        depth -= 1
        begin, end, above = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        node, nodes = nodes, nodes + 1
        if above >= 0:
            children[above] = node
        spans[node, 0], spans[node, 1] = begin, end
        middle = _parted(points, order[begin:end], low[node], high[node])
        if middle:
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = begin + middle, end, node
            depth += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = begin, begin + middle, -1
            depth += 1
    return order, spans[:nodes], children[:nodes], low[:nodes], high[:nodes]


@inner
def _parted(
    points,  # IN   int32[points, d]
    some,  # IN/OUT int64[], points of a node; ordered by the side that they are on
    low,  # OUT  int32[d]
    high,  # OUT  int32[d]
):
    """Find the corners of a node, and part its points; how many are on the first side, 0 if it stays whole."""
    for axis in range(len(low)):
        low[axis] = high[axis] = points[some[0], axis]
        for point in some:
            low[axis] = min(low[axis], points[point, axis])
            high[axis] = max(high[axis], points[point, axis])
    widest = 0
    for axis in range(1, len(low)):
        if high[axis] - low[axis] > high[widest] - low[widest]:
            widest = axis
    if len(some) <= _LEAF or low[widest] == high[widest]:
        return 0
    cut = low[widest] + (high[widest] - low[widest]) // 2
    begin, end = 0, len(some)
    while begin < end:
        if points[some[begin], widest] <= cut:
            begin += 1
        else:
            end -= 1
            some[begin], some[end] = some[end], some[begin]
    return begin


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
