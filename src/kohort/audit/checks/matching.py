"""Assigning released cells to original values when the row order is not known.

Originals stand at positions on a line and every published value covers one stretch of it. A truthful
release has an assignment of its cells to different originals, each inside its stretch, in whatever
order the rows are. Such a bipartite graph is convex, and sweeping the line while always serving the
stretch that ends first finds a largest assignment (Glover 1967).
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from kohort.audit.read.dictionary import Ints

_AT_ONCE = 1 << 16
"""Numbers that Python holds at a time."""


def unmatched(first: Ints, last: Ints, cells: Ints, capacity: Ints) -> int:
    """Count the cells that are left over by a largest assignment.

    Parameters
    ----------
    first, last : ndarray of int
        The places that every published text covers, both included; none when first > last.
    cells : ndarray of int
        How many released cells have the text.
    capacity : ndarray of int
        Number of originals at each position.

    Examples
    --------
    >>> import numpy as np
    >>> unmatched(np.array([0, 1]), np.array([1, 1]), np.array([2, 1]), np.array([1, 1]))
    1
    """
    order = np.argsort(first, kind="stable")
    waiting = zip(_numbers(first[order]), _numbers(last[order]), _numbers(cells[order]), strict=True)
    following = next(waiting, None)
    open_: list[tuple[int, int]] = []  # (last, cells)
    served = 0
    for position, room in enumerate(_numbers(capacity)):
        while following is not None and following[0] <= position:
            heappush(open_, following[1:])
            following = next(waiting, None)
        while open_ and room:
            end, some = heappop(open_)
            if end < position:
                continue  # nothing can serve these any more
            taken = min(some, room)
            served += taken
            room -= taken
            if taken < some:
                heappush(open_, (end, some - taken))
    return int(cells.sum()) - served


def _numbers(array: Ints) -> Iterator[int]:
    """The numbers of an array, some of which Python holds at a time."""
    for start in range(0, len(array), _AT_ONCE):
        yield from array[start : start + _AT_ONCE].tolist()
