"""Frequency sets: rows that become alike when values are generalized, with how often they occur."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import inner, kernel


class Frequencies(NamedTuple):
    """Different rows with their numbers of records."""

    rows: NDArray[np.int32]
    """Shape (classes, d)."""
    counts: NDArray[np.int64]

    def small(self, k: int) -> int:
        """Number of records in classes of fewer than k."""
        return int(self.counts[self.counts < k].sum())


def roll_up(fine: Frequencies, maps: Sequence[NDArray[np.int32]]) -> tuple[Frequencies, NDArray[np.int32]]:
    """Generalize the values of each column, and put together what becomes alike.

    Parameters
    ----------
    maps : sequence of arrays of int32
        For each column, what becomes of each of its values.

    Returns
    -------
    Frequencies, labels
        The classes in order of their first row; and the class of each row of `fine`.
    """
    m, d = fine.rows.shape
    offsets = np.cumsum([0, *(len(values) for values in maps)])[:-1]
    rows, counts, labels = np.empty((m, d), np.int32), np.zeros(m, np.int64), np.empty(m, np.int32)
    classes = _group(fine.rows, fine.counts, np.concatenate(maps), offsets, rows, counts, labels)
    # Copies: views would keep the room for all rows of the finer set.
    return Frequencies(rows[:classes].copy(), counts[:classes].copy()), labels


@kernel
def _group(
    rows,  # IN   int32[m, d]
    counts,  # IN   int64[m]
    flat,  # IN   int32[], what becomes of each value, column after column
    offsets,  # IN   int64[d], where a column begins in `flat`
    grouped,  # OUT  int32[m, d], the classes
    sizes,  # IN/OUT int64[m], records of each class, 0 before
    labels,  # OUT  int32[m], class of each row
):
    """Find the classes with a hash table of open addresses; returns their number."""
    m, d = rows.shape
    room = 16
    while room < 2 * m:
        room *= 2
    slots = np.full(room, -1, np.int32)
    classes = 0
    for row in range(m):
        code = np.uint64(0)
        for axis in range(d):
            # Written where the next class would be: there it stays if it is new.
            value = flat[offsets[axis] + rows[row, axis]]
            grouped[classes, axis] = value
            code = (code ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
            code ^= code >> np.uint64(29)
        slot = np.int64(code & np.uint64(room - 1))
        while slots[slot] >= 0 and not _equal(grouped, slots[slot], classes):
            slot = (slot + 1) & (room - 1)
        if slots[slot] < 0:
            slots[slot] = classes
            classes += 1
        labels[row] = slots[slot]
        sizes[slots[slot]] += counts[row]
    return classes


@inner
def _equal(
    rows,  # IN   int32[m, d]
    one,  # IN   int
    other,  # IN   int
):
    """Whether two rows are equal."""
    axis = 0
    while axis < rows.shape[1] and rows[one, axis] == rows[other, axis]:
        axis += 1
    return axis == rows.shape[1]
