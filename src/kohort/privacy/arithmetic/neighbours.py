"""What the models about dissimilar values have in common: how many near ones a record may have in its class."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy as np
from numpy.typing import NDArray

from kohort.privacy.arithmetic.counting import at_most, kept_by_all
from kohort.privacy.arithmetic.parameters import decimal, exact
from kohort.privacy.arithmetic.surplus import with_allowance
from kohort.privacy.base import Histogram

MOST_VECTORS = 3000
"""Values whose pairs are all compared before the work starts."""
_LOOKED_AT = 1000
"""Sizes of classes that are looked at one by one."""


def spares_enough(classes: Histogram, near: NDArray[np.int64], delta: Fraction) -> NDArray[np.bool_]:
    """Which classes have, for every entry, at least a share of delta of the other records that are not near it.

    Parameters
    ----------
    near : int64[entries]
        Records of the class that are near the entry, itself included.
    """
    size = classes.sizes[classes.group]
    # At most 1 - delta of the others are near: the same, without a number below 0.
    return kept_by_all(classes, at_most(near - 1, size - 1, 1 - delta))


def refuses_crowd(
    columns: Sequence[str], epsilon: float, delta: float, crowd: int, total: int, allowance: int = 0
) -> str | None:
    """Why that many records, all near one another, cannot be dealt to classes; or None.

    A class of n records has at most (1 - delta) (n - 1) + 1 of them, and at least 2 records, as k is 2 or more. That
    is necessary and not always enough.
    """
    # At best, all that are suppressed are of the crowd.
    left, of_all = crowd - allowance, total - allowance
    if left <= _largest_share(exact(delta)) * of_all:
        return None
    steps = (Fraction(step, 100) for step in range(99, 0, -1))
    most = next((step for step in steps if left <= _largest_share(step) * of_all), None)
    can = "no delta above 0 can be kept" if most is None else f"no more than delta = {decimal(most)} can be kept"
    of = f"column {columns[0]!r}" if len(columns) == 1 else f"columns {', '.join(map(repr, columns))}"
    return (
        f"delta = {delta} is impossible for {of} with epsilon = {epsilon}: values of {crowd:,} of {total:,} records "
        f"lie within epsilon of one another{with_allowance(allowance)}; {can}"
    )


@lru_cache(maxsize=256)
def _largest_share(delta: Fraction) -> Fraction:
    """The largest share of a class that can be near one another, or a little more."""
    most = max(Fraction(floor((1 - delta) * (size - 1) + 1), size) for size in range(2, _LOOKED_AT))
    return max(most, 1 - delta + delta / _LOOKED_AT)
