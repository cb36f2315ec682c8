"""PAC: nearest ancestors, and complete-linkage merging of clusters that retire at k records.

Two distances make one: `near` over the quasi-identifiers, which shall be small, and `apart` over
the sensitive columns, which shall be large. Both are in fixed point and carry their weights:

    distance = near + (largest possible apart) - apart

Clusters are known by their first record. A cluster is open while it has fewer than k records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import inner, kernel
from kohort.kernels.proximity import Metric, add_distances, measure_sides

FAR = 2**62
"""More than any distance."""
BLOCK = 2048
"""Rows whose distances are computed together: they stay in the first-level cache."""


class Records(NamedTuple):
    """The records of one part, axis by axis, and both distances."""

    near: Metric
    """Of the quasi-identifiers."""
    columns: NDArray[np.int32]
    apart: Metric
    """Of the sensitive columns."""
    vectors: NDArray[np.int32]


@kernel
def approach(
    metric,  # IN   Metric
    columns,  # IN   int32[d, m], codes of the rows, axis by axis
    lo,  # IN   int32[d], an ancestor
    hi,  # IN   int32[d]
    one_way,  # IN   bool, see `measure_sides`
    label,  # IN   int, number of the ancestor
    sides,  # TMP  int32[codes]
    nearest,  # IN/OUT int32[m], distance to the nearest ancestor so far
    labels,  # IN/OUT int32[m], the nearest ancestor so far
):
    """Give the rows that are nearer to this ancestor than to any before to it."""
    measure_sides(metric, lo, hi, one_way, sides)
    m = len(nearest)
    total = np.empty(BLOCK, np.int32)
    for first in range(0, m, BLOCK):
        distance = total[: min(BLOCK, m - first)]
        distance[:] = 0
        add_distances(metric, lo, sides, columns, first, 1, distance)
        for i in range(len(distance)):
            if distance[i] < nearest[first + i]:
                nearest[first + i] = distance[i]
                labels[first + i] = label


@kernel
def distances_from(
    records,  # IN   Records
    record,  # IN   int
    first,  # IN   int
    sides,  # TMP  int32[codes of either]
    total,  # OUT  int32[records from `first` on]
):
    """Distances of a record to those from `first` on."""
    near, columns, apart, vectors = records
    here = columns[:, record].copy()
    measure_sides(near, here, here, False, sides)
    total[:] = apart.full.sum()
    add_distances(near, here, sides, columns, first, 1, total)
    there = vectors[:, record].copy()
    measure_sides(apart, there, there, False, sides)
    add_distances(apart, there, sides, vectors, first, -1, total)


@kernel
def fill_pairs(
    records,  # IN   Records
    start,  # IN   int, first row of the matrix to fill
    stop,  # IN   int, where to stop
    matrix,  # OUT  int32[m, m], distances of pairs, above the diagonal
):
    """Compute the distances of the records to those after them."""
    sides = np.zeros(max(records.near.offset[-1], records.apart.offset[-1]), np.int32)
    for record in range(start, stop):
        distances_from(records, record, record + 1, sides, matrix[record, record + 1 :])


@inner
def _find_partner(
    matrix,  # IN   int32[m, m]
    sizes,  # IN   int64[m]
    is_open,  # IN   bool[m]
    cluster,  # IN   int
    bound,  # OUT  int64[m]
    partner,  # OUT  int32[m]
):
    """Find the nearest open cluster after this one, the first of equals."""
    least = np.int64(FAR)
    size = sizes[cluster]
    row = matrix[cluster]
    for other in range(cluster + 1, len(sizes)):
        if is_open[other]:
            distance = (size + sizes[other]) * row[other]
            if distance < least:
                least = distance
                partner[cluster] = other
    bound[cluster] = least


@inner
def _merge(
    cluster,  # IN   int
    other,  # IN   int, a later one
    k,  # IN   int
    matrix,  # IN/OUT int32[m, m]
    sizes,  # IN/OUT int64[m]
    is_open,  # IN/OUT bool[m]
    bound,  # IN/OUT int64[m]
    leader,  # IN/OUT int32[m]
):
    """Merge two open clusters; the new one is closed if it has k records."""
    sizes[cluster] += sizes[other]
    leader[other] = cluster
    is_open[other] = False
    bound[other] = FAR
    if sizes[cluster] >= k:
        is_open[cluster] = False
        bound[cluster] = FAR
        return
    for third in range(len(sizes)):
        if is_open[third] and third != cluster:
            farther = matrix[min(third, other), max(third, other)]
            above, right = min(third, cluster), max(third, cluster)
            matrix[above, right] = max(matrix[above, right], farther)


@kernel
def merge_clusters(
    k,  # IN   int
    work,  # IN   int, numbers to look at before the next return
    matrix,  # IN/OUT int32[m, m], largest distance of two open clusters' records, above the diagonal
    sizes,  # IN/OUT int64[m]
    is_open,  # IN/OUT bool[m]
    bound,  # IN/OUT int64[m], at most the distance to the nearest open cluster after this one
    partner,  # IN/OUT int32[m], that cluster when the bound was set
    leader,  # IN/OUT int32[m], first record of the cluster that a record was merged into
):
    """Merge the nearest two open clusters until fewer than two are left; returns whether it is done.

    The distance of two clusters is their number of records times the largest distance of any two
    of these. It never falls when clusters grow, so an old distance is a lower bound, and a
    partner is looked for again only when the bound is the least of all.
    """
    while work > 0:
        cluster = int(np.argmin(bound))
        least = bound[cluster]
        if least == FAR:
            return True
        work -= len(bound)
        other = partner[cluster]
        if is_open[other] and (sizes[cluster] + sizes[other]) * matrix[cluster, other] == least and other > cluster:
            _merge(cluster, other, k, matrix, sizes, is_open, bound, leader)
        else:
            _find_partner(matrix, sizes, is_open, cluster, bound, partner)
    return False


@kernel
def label_clusters(
    leader,  # IN   int32[m]
    is_open,  # IN   bool[m]
    labels,  # OUT  int32[m], number of the closed cluster of each record, -1 for those of an open one
):
    """Number the closed clusters by their first records; returns how many there are."""
    closed = 0
    for record in range(len(leader)):
        if leader[record] < record:
            labels[record] = labels[leader[record]]
        elif is_open[record]:
            labels[record] = -1
        else:
            labels[record] = closed
            closed += 1
    return closed


@inner
def _nearest_with_room(
    distance,  # IN   int32[m], of a record to all
    labels,  # IN   int32[m]
    sizes,  # IN   int64[clusters]
    most,  # IN   int, a cluster with this many records is full
):
    """Find the nearest cluster that is not full, the first of equals; -1 if all are."""
    farthest = np.zeros(len(sizes), np.int64)
    for record in range(len(distance)):
        if labels[record] >= 0:
            farthest[labels[record]] = max(farthest[labels[record]], distance[record])
    least = np.int64(FAR)
    best = -1
    for cluster in range(len(sizes)):
        if sizes[cluster] < most and (1 + sizes[cluster]) * farthest[cluster] < least:
            least = (1 + sizes[cluster]) * farthest[cluster]
            best = cluster
    return best


@kernel
def place_leftovers(
    records,  # IN   Records
    k,  # IN   int
    draw,  # IN   float, random, 0 to 1
    clusters,  # IN   int
    labels,  # IN/OUT int32[m], -1 for fewer than k records
):
    """Give each record without a cluster to the nearest; if all are full, the rest takes from one of them."""
    sides = np.zeros(max(records.near.offset[-1], records.apart.offset[-1]), np.int32)
    distance = np.empty(len(labels), np.int32)
    sizes = np.zeros(clusters, np.int64)
    for label in labels:
        if label >= 0:
            sizes[label] += 1
    for record in np.flatnonzero(labels < 0):
        distances_from(records, record, 0, sides, distance)
        cluster = _nearest_with_room(distance, labels, sizes, 2 * k - 1)
        if cluster < 0:
            break
        labels[record] = cluster
        sizes[cluster] += 1
    left = np.flatnonzero(labels < 0)
    if len(left) == 0:
        return
    # Every cluster has 2k - 1 records. One of them, at random, gives those that are nearest to the left ones.
    giver = int(draw * clusters)
    farthest = np.zeros(len(labels), np.int32)
    for record in left:
        distances_from(records, record, 0, sides, distance)
        farthest = np.maximum(farthest, distance)
    labels[left] = clusters
    for _ in range(k - len(left)):
        least = np.int64(FAR)
        moved = -1
        for record in np.flatnonzero(labels == giver):
            if farthest[record] < least:
                least = farthest[record]
                moved = record
        labels[moved] = clusters
        distances_from(records, moved, 0, sides, distance)
        farthest = np.maximum(farthest, distance)
