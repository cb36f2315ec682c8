"""What is left of the values of a table when records that are in the way are suppressed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def capped(counts: NDArray[np.int64], allowance: int) -> int:
    """The least number that no value need have more records than, if that many records may be suppressed.

    Examples
    --------
    >>> capped(np.array([7, 5, 1]), 0), capped(np.array([7, 5, 1]), 4), capped(np.array([7, 5, 1]), 13)
    (7, 4, 0)
    """
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        middle = (low + high) // 2
        if int(np.maximum(counts - middle, 0).sum()) <= allowance:
            high = middle
        else:
            low = middle + 1
    return low


def with_allowance(allowance: int) -> str:
    """How many records may be suppressed, at the end of a sentence on what the table has; nothing if none may."""
    return f", and at most {allowance:,} may be suppressed" if allowance else ""
