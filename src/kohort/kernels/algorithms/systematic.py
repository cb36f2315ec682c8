"""Systematic clustering: every record, in order, joins the open cluster whose loss grows least."""

from __future__ import annotations

import numpy as np

from kohort.kernels.boxes import NEVER, add_to_box, cheapest
from kohort.kernels.jit import kernel


@kernel
def fill_clusters(
    codes,  # IN   int32[m, d], distinct rows in lexicographic order
    first,  # IN   int64[m], position of the first copy of a row
    counts,  # IN   int64[m]
    costs,  # IN   Costs
    k,  # IN   int
    start,  # IN   int, first row of this call
    stop,  # IN   int, row after the last one
    vacant,  # IN/OUT int32[clusters], clusters with fewer than k members, ascending
    vacancies,  # IN   int, how many of them there are
    boxes,  # IN/OUT Boxes
    labels,  # IN/OUT int32[n], cluster of each copy; seeds have theirs, the others -1
):
    """Place the records of some rows; returns how many clusters are still vacant.

    The copies of a row stay together until their cluster is full: after one of them has joined,
    the box holds the row, so the next adds no more than the first did, and no other cluster has
    changed.
    """
    everything = np.arange(boxes.sizes.shape[0]).astype(np.int32)
    for row in range(start, stop):
        position = first[row]
        end = first[row] + counts[row]
        while position < end:
            if labels[position] >= 0:
                position += 1
                continue
            if vacancies == 0:
                slot, _ = cheapest(boxes, costs, codes[row], everything, everything.shape[0], NEVER)
                best = everything[slot]
            else:
                slot, _ = cheapest(boxes, costs, codes[row], vacant, vacancies, NEVER)
                best = vacant[slot]
            room = k - boxes.sizes[best] if vacancies > 0 else counts[row]
            placed = 0
            while position < end and placed < room:
                if labels[position] < 0:
                    labels[position] = best
                    placed += 1
                position += 1
            add_to_box(boxes, best, costs, codes[row], placed)
            if vacancies > 0 and boxes.sizes[best] == k:
                vacancies -= 1
                for index in range(slot, vacancies):
                    vacant[index] = vacant[index + 1]
    return vacancies
