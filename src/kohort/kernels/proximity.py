"""Distance of records, column by column, and how far apart the records of a class are.

Numbers are as far apart as their positions on a line; the nodes of a taxonomy as far as the path
between them is long. In depth-first order, the lowest common ancestor of two leaves is as deep as
the shallowest common ancestor of neighbouring leaves between them. So a walk over the leaves gives
the distances of one node to all of them. These `sides` are computed once for a record, or an
ancestor, that is compared with many.

An ancestor is given like a box, as `lo..hi` per axis: in a taxonomy it is the lowest common
ancestor of both; on a line both are one value. A record is its own ancestor. A missing value lies
at the full distance from any other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import inner, kernel


class Metric(NamedTuple):
    """The distance for the axes of one table; in fixed point, or in floating point."""

    line: NDArray[np.bool_]
    """Whether an axis is a line or a taxonomy."""
    missing: NDArray[np.int64]
    """Code of a missing value, or -1."""
    full: NDArray[Any]
    """The largest distance, per axis."""
    offset: NDArray[np.int64]
    """Where the codes of an axis begin in the next three; at last, where all end."""
    position: NDArray[Any]
    """Lines: position of each code."""
    depth: NDArray[np.int32]
    """Taxonomies: depth of each leaf."""
    between: NDArray[np.int32]
    """Taxonomies: depth of the lowest common ancestor of each leaf and the next."""
    first_step: NDArray[np.int64]
    """Where the steps of an axis begin."""
    steps: NDArray[Any]
    """Taxonomies: distance by length of the path, in edges."""


@inner
def node_depth(
    metric,  # IN   Metric
    axis,  # IN   int, a taxonomy
    lo,  # IN   int, a leaf
    hi,  # IN   int, the same or a later one
):
    """Depth of the lowest common ancestor of two leaves."""
    start = metric.offset[axis]
    if lo == hi:
        return metric.depth[start + lo]
    return metric.between[start + lo : start + hi].min()


@kernel
def measure_sides(
    metric,  # IN   Metric
    lo,  # IN   int32[d], an ancestor
    hi,  # IN   int32[d]
    one_way,  # IN   bool, count only the edges from the leaf up to the common ancestor, twice
    sides,  # OUT  [codes of all axes], distance of the ancestor to each leaf; lines are left out
):
    """Compute the distances of an ancestor to every value of every taxonomy."""
    for axis in range(len(lo)):
        if metric.line[axis]:
            continue
        start = metric.offset[axis]
        size = metric.offset[axis + 1] - start
        missing = metric.missing[axis]
        if missing >= 0:
            size -= 1
            sides[start + missing] = 0 if lo[axis] == missing else metric.full[axis]
        if lo[axis] == missing:
            sides[start : start + size] = metric.full[axis]
            continue
        node = node_depth(metric, axis, lo[axis], hi[axis])
        first = metric.first_step[axis]
        common = node
        for leaf in range(lo[axis], size):
            if leaf > hi[axis]:
                common = min(common, metric.between[start + leaf - 1])
            up = metric.depth[start + leaf] - common
            sides[start + leaf] = metric.steps[first + up + (up if one_way else node - common)]
        common = node
        for leaf in range(lo[axis] - 1, -1, -1):
            common = min(common, metric.between[start + leaf])
            up = metric.depth[start + leaf] - common
            sides[start + leaf] = metric.steps[first + up + (up if one_way else node - common)]


@inner
def add_distances(
    metric,  # IN   Metric
    here,  # IN   int32[d], the ancestor's values on lines
    sides,  # IN   [codes], see `measure_sides`
    columns,  # IN   int32[d, n], codes of the records, axis by axis
    first,  # IN   int, first record
    sign,  # IN   int, 1 to add or -1 to subtract
    total,  # IN/OUT [records from `first` on]
):
    """Add the distances of an ancestor to some records."""
    for axis in range(len(here)):
        start = metric.offset[axis]
        column = columns[axis, first : first + len(total)]
        if not metric.line[axis]:
            for i in range(len(total)):
                total[i] += sign * sides[start + column[i]]
            continue
        missing = metric.missing[axis]
        full = sign * metric.full[axis]
        if here[axis] == missing:
            for i in range(len(total)):
                if column[i] != missing:
                    total[i] += full
            continue
        place = metric.position[start + here[axis]]
        for i in range(len(total)):
            if column[i] == missing:
                total[i] += full
            else:
                total[i] += sign * abs(metric.position[start + column[i]] - place)


@kernel
def ancestor_distance(
    metric,  # IN   Metric
    lo,  # IN   int32[d], an ancestor
    hi,  # IN   int32[d]
    other_lo,  # IN   int32[d], another
    other_hi,  # IN   int32[d]
):
    """Distance of two ancestors."""
    total = metric.full[0] * 0
    for axis in range(len(lo)):
        missing = metric.missing[axis]
        if (lo[axis] == missing) != (other_lo[axis] == missing):
            total += metric.full[axis]
        elif lo[axis] == missing:
            continue
        elif metric.line[axis]:
            start = metric.offset[axis]
            total += abs(metric.position[start + lo[axis]] - metric.position[start + other_lo[axis]])
        else:
            edges = node_depth(metric, axis, lo[axis], hi[axis]) + node_depth(
                metric, axis, other_lo[axis], other_hi[axis]
            )
            both = node_depth(metric, axis, min(lo[axis], other_lo[axis]), max(hi[axis], other_hi[axis]))
            total += metric.steps[metric.first_step[axis] + edges - 2 * both]
    return total


@kernel
def compare_vectors(
    metric,  # IN   Metric, floating point
    columns,  # IN   int32[d, m], distinct vectors of each class, class after class
    counts,  # IN   int64[m], records of each
    stops,  # IN   int64[m], where the class of each vector ends
    epsilon,  # IN   float, vectors no farther apart are similar
    first,  # IN   int, the vector to begin with
    work,  # IN   int, distances to compute before the next return
    nearest,  # IN/OUT float64[m], distance to the nearest later record of the class
    total,  # IN/OUT float64[m], sum of the distances to later records of the class
    far,  # IN/OUT int64[m], records of the class that are not similar
):
    """Compare the vectors of each class with each other; returns the vector to go on with."""
    d, m = columns.shape
    sides = np.zeros(metric.offset[d])
    distance = np.empty(m)
    here = np.empty(d, np.int32)
    while first < m and work > 0:
        others = distance[first + 1 : stops[first]]
        others[:] = 0.0
        here[:] = columns[:, first]
        if len(others) > 0:
            measure_sides(metric, here, here, False, sides)
            add_distances(metric, here, sides, columns, first + 1, 1, others)
        if counts[first] > 1:
            nearest[first] = 0.0
        for i in range(len(others)):
            other = first + 1 + i
            nearest[first] = min(nearest[first], others[i])
            total[first] += counts[first] * counts[other] * others[i]
            if others[i] > epsilon:
                far[first] += counts[other]
                far[other] += counts[first]
        work -= len(sides) + d * len(others)
        first += 1
    return first
