"""Sets of rows that are divided again and again, in place.

The rows of a set lie beside each other in an array: `order[start:stop]`. `stops[start]` tells
where the set that begins at `start` ends. Sets are finished from left to right, so one cursor is
all that a recursion has to keep between two calls of a kernel.
"""

from __future__ import annotations

from kohort.kernels.jit import inner

# Slots of the state that survives between calls: where the next set begins, sets finished.
START, DONE = range(2)


@inner
def gather_parts(
    part,  # IN   int32[rows], part of each row of the set
    begins,  # IN   int64[parts], where each part begins, counted from the start of the set
    order,  # IN/OUT int32[members], rows of the set
    cursor,  # TMP  int64[parts]
    buffer,  # TMP  int32[members]
):
    """Bring the rows of each part together; the order within a part stays."""
    cursor[: len(begins)] = begins
    for i in range(len(order)):
        row = order[i]
        buffer[cursor[part[row]]] = row
        cursor[part[row]] += 1
    order[:] = buffer[: len(order)]


@inner
def part_begins(
    part,  # IN   int32[rows], part of each row of the set
    parts,  # IN   int
    order,  # IN   int32[members], rows of the set
    begins,  # OUT  int64[parts + 1], where each part begins; at last, the number of members
):
    """Count the rows of each part."""
    begins[: parts + 1] = 0
    for i in range(len(order)):
        begins[part[order[i]] + 1] += 1
    for p in range(parts):
        begins[p + 1] += begins[p]
