"""Fixed point that is exact where it can be: how many units each column counts, so that equal costs stay equal.

A cost is a share of its column: (b - a) / range for numbers, leaves / all leaves or levels / all levels for
categories. Counted in units of which the column has a multiple of the denominator, such a share is a whole number, and
no rounding decides between two that are equal. A unit that suits several columns alike is a common multiple of their
denominators; it must leave room for the sum over all columns in 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

FINEST = 2**29
"""Most units of a column."""
ROOM = 2**30
"""Most units of all columns together."""
_PROPORTION = 1000
"""From this number of units per step on, a column may be given a few more or less, so that its steps are equal."""
_ROUNDING = 1e-15
"""How far a share in floating point is from the fraction that is meant."""


def grid_of(shares: NDArray[np.float64]) -> int | None:
    """The least common denominator of some shares; None if it is larger than any unit.

    Examples
    --------
    >>> grid_of(np.array([0, 1 / 3, 1 / 2, 1])), grid_of(np.array([0, 0.5**0.5, 0.3**0.5, 1]))
    (6, None)
    """
    grid = 1
    while True:
        scaled = shares * grid
        off = np.flatnonzero(np.abs(scaled - np.rint(scaled)) > _ROUNDING * grid)
        if not len(off):
            return grid
        finer = lcm(grid, Fraction(float(shares[off[0]])).limit_denominator(FINEST).denominator)
        if finer == grid or finer > FINEST:
            return None  # the nearest fraction is on the grid already, and too far away
        grid = finer


def units_of(grids: Sequence[int | None], weights: Sequence[Fraction], room: int = ROOM) -> list[float]:
    """How many units each of some columns has; whole numbers for those whose shares have a common denominator.

    Parameters
    ----------
    grids : sequence of int or None
        Least common denominator of the shares of each column.
    weights : sequence of Fraction
        Of each column; the units are in proportion to them. That may be off by a 2000th where the denominators of
        the columns have no common multiple that is small enough.
    room : int
        Most units of all columns together, if all have the weight 1.

    Examples
    --------
    >>> units_of([9, 7], [Fraction(1), Fraction(1, 2)], room=1000)
    [378.0, 189.0]
    """
    most = min(FINEST, room // max(1, len(grids)))
    needs = [
        most + 1 if grid is None else (weight / grid).denominator for grid, weight in zip(grids, weights, strict=True)
    ]
    common = 1
    for need in sorted(needs):
        common = lcm(common, need) if lcm(common, need) <= most else common
    one = most // common * common
    units = []
    for grid, need, weight in zip(grids, needs, weights, strict=True):
        unit = float(one * weight)
        if grid is not None and one % need and grid * _PROPORTION <= unit:
            unit = float(round(unit / grid) * grid)
        units.append(unit)
    return units


def exact_weights(weights: Sequence[float], whole: float) -> list[Fraction]:
    """Weights as shares of one of them, or of their sum: as the decimals that the policy writes."""
    return [Fraction(str(weight)) / Fraction(str(whole)) for weight in weights]
