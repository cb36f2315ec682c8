"""Assigning released cells to original values when the row order is not known.

Originals stand at positions on a line and every published value covers one stretch of it. A truthful
release has an assignment of its cells to different originals, each inside its stretch, in whatever
order the rows are. Such a bipartite graph is convex, and sweeping the line while always serving the
stretch that ends first finds a largest assignment (Glover 1967).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush


def unmatched(stretches: Mapping[tuple[int, int], int], capacity: Sequence[int]) -> int:
    """Count the cells that are left over by a largest assignment.

    Parameters
    ----------
    stretches : mapping
        ``(first, last)``, both included, to the number of released cells; empty when first > last.
    capacity : sequence of int
        Number of originals at each position.

    Examples
    --------
    >>> unmatched({(0, 1): 2, (1, 1): 1}, [1, 1])
    1
    """
    waiting = sorted(stretches.items(), reverse=True)
    open_: list[tuple[int, int]] = []  # (last, cells)
    served = 0
    for position, room in enumerate(capacity):
        while waiting and waiting[-1][0][0] <= position:
            (_, last), cells = waiting.pop()
            heappush(open_, (last, cells))
        while open_ and room:
            last, cells = heappop(open_)
            if last < position:
                continue  # nothing can serve these any more
            taken = min(cells, room)
            served += taken
            room -= taken
            if taken < cells:
                heappush(open_, (last, cells - taken))
    return sum(stretches.values()) - served
