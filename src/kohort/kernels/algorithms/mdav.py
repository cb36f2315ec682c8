"""MDAV: distances of all rows from one point, the furthest row, and the nearest records."""

from __future__ import annotations

import numpy as np

from kohort.kernels.algorithms.cb import mean_place, place_cost
from kohort.kernels.costs import LINE
from kohort.kernels.jit import kernel


@kernel
def place_of(
    costs,  # IN   Costs
    axis,  # IN   int
    code,  # IN   int
):
    """Position of a code on a LINE, -1 for missing; the code itself in a taxonomy."""
    return costs.flat[costs.offset[axis] + code] if costs.kind[axis] == LINE else np.int32(code)


@kernel
def centre_places(
    costs,  # IN   Costs
    first,  # IN   int64[d], where the counts of an axis begin
    counts,  # IN   int64[all codes], how many records that are left have a code
    total,  # IN   int, number of records that are left
    centre,  # OUT  int32[d]
):
    """Mean position on lines; the most frequent code of a taxonomy, the smallest of equals."""
    for axis in range(len(centre)):
        here = counts[first[axis] : first[axis] + costs.size[axis]]
        if costs.kind[axis] == LINE:
            positions = 0
            present = 0
            for code in range(len(here)):
                if code != costs.missing[axis]:
                    positions += here[code] * place_of(costs, axis, code)
                    present += here[code]
            centre[axis] = mean_place(positions, present, total)
        else:
            centre[axis] = np.argmax(here)


@kernel
def scan_costs(
    costs,  # IN   Costs
    columns,  # IN   int32[d, rows], codes
    point,  # IN   int32[d], places
    side,  # TMP  int32[largest axis]
    distance,  # OUT  int64[rows]
):
    """Cost of {point, row} for all rows."""
    distance[:] = 0
    for axis in range(len(columns)):
        for code in range(costs.size[axis]):
            side[code] = place_cost(costs, axis, point[axis], place_of(costs, axis, code))
        column = columns[axis]
        for i in range(len(column)):
            distance[i] += side[column[i]]


@kernel
def centre_numbers(
    columns,  # IN   float64[d, rows]
    left,  # IN   int64[rows], records of each row that are left
    centre,  # OUT  float64[d]
):
    """Mean of the records that are left."""
    for axis in range(len(columns)):
        total = 0.0
        for i in range(len(left)):
            total += columns[axis, i] * left[i]
        centre[axis] = total / left.sum()


@kernel
def scan_squares(
    columns,  # IN   float64[d, rows]
    point,  # IN   float64[d]
    distance,  # OUT  float64[rows]
):
    """Squared distance between a point and all rows."""
    distance[:] = 0
    for axis in range(len(columns)):
        column = columns[axis]
        for i in range(len(column)):
            distance[i] += (column[i] - point[axis]) ** 2


@kernel
def furthest(
    distance,  # IN   int64 or float64[rows]
    left,  # IN   int64[rows]
):
    """The row of the largest distance that has records left, the first of equals."""
    found = -1
    for i in range(len(left)):
        if left[i] > 0 and (found < 0 or distance[i] > distance[found]):
            found = i
    return found


@kernel
def nearest(
    distance,  # IN   int64 or float64[rows]
    left,  # IN   int64[rows], of which at least `wanted` records in all
    wanted,  # IN   int, number of records
    rows,  # OUT  int64[wanted], rows of the nearest records, nearest first
    copies,  # OUT  int64[wanted], how many records of each
):
    """The nearest records, the first of equals; returns the number of their rows."""
    kept = 0
    records = 0
    for i in range(len(left)):
        if left[i] == 0 or (records >= wanted and distance[i] >= distance[rows[kept - 1]]):
            continue
        # Rows that are no longer needed once this one is in; the last one may be needed in part.
        while kept > 0 and distance[rows[kept - 1]] > distance[i] and records - copies[kept - 1] + left[i] >= wanted:
            kept -= 1
            records -= copies[kept]
        place = kept
        while place > 0 and distance[rows[place - 1]] > distance[i]:
            rows[place] = rows[place - 1]
            copies[place] = copies[place - 1]
            place -= 1
        rows[place] = i
        copies[place] = left[i]
        kept += 1
        records += left[i]
    copies[kept - 1] -= records - wanted
    return kept
