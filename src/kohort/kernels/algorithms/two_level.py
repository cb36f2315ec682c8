"""The second level: systematic clustering inside some of the clusters."""

from __future__ import annotations

import numpy as np

from kohort.kernels.algorithms.systematic import fill_clusters
from kohort.kernels.boxes import NEVER, Boxes, add_to_box
from kohort.kernels.jit import kernel


@kernel
def gather_boxes(
    codes,  # IN   int32[n, d]
    labels,  # IN   int32[n]
    costs,  # IN   Costs
    boxes,  # IN/OUT Boxes, without members at first
):
    """Find the box of each cluster."""
    for record in range(labels.shape[0]):
        add_to_box(boxes, labels[record], costs, codes[record], 1)


@kernel
def divide_clusters(
    codes,  # IN   int32[n, d], cluster by cluster, lexicographically in each
    costs,  # IN   Costs
    begins,  # IN   int64[clusters + 1], where each cluster begins; at last, n
    size,  # IN   int, fewest records of a part
    places,  # IN   int64[clusters], place of the seeds in their blocks; -1 leaves a cluster whole
    start,  # IN   int, first cluster of this call
    stop,  # IN   int, cluster after the last one
    parts,  # OUT  int32[n], part of its cluster that each record is in
):
    """Divide clusters into as many parts of `size` records or more as each has room for."""
    d = codes.shape[1]
    for cluster in range(start, stop):
        begin = begins[cluster]
        members = begins[cluster + 1] - begin
        if places[cluster] < 0:
            parts[begin : begin + members] = 0
            continue
        number = members // size
        boxes = Boxes(
            np.zeros((number, d), np.int32),
            np.zeros((number, d), np.int32),
            np.zeros((number, d), np.int32),
            np.full(number, NEVER, np.int64),
            np.zeros(number, np.int64),
        )
        rows = codes[begin : begin + members]
        inside = parts[begin : begin + members]
        inside[:] = -1
        for part in range(number):
            seed = part * size + places[cluster]
            inside[seed] = part
            add_to_box(boxes, part, costs, rows[seed], 1)
        one_by_one = np.arange(members)
        vacant = np.arange(number).astype(np.int32)
        fill_clusters(
            rows, one_by_one, np.ones(members, np.int64), costs, size, 0, members, vacant, number, boxes, inside
        )
