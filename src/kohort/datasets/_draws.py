"""Random draws that come out the same on every machine.

Only `numpy.random.Generator.random` (53 bits of PCG64, scaled) is asked for randomness, and only
additions, multiplications and comparisons follow: IEEE 754 fixes these to the last bit, whereas
logarithms, exponentials and numpy's own normal variates may differ between processors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# Chances are kept as integers over 2^32, which leaves 31 bits for the number of a wheel.
_BITS = 32


@dataclass(frozen=True)
class Wheels:
    """Roulette wheels with the same pockets but different chances, one per row of `weights`.

    All wheels lie behind each other in one sorted array, so that one binary search serves a
    whole column whose rows spin different wheels.

    Examples
    --------
    >>> coins = Wheels.of([[1, 1], [0, 1]])
    >>> coins.spin(np.random.default_rng(1), np.array([1, 1, 1])).tolist()
    [1, 1, 1]
    """

    bounds: Ints
    pockets: int

    @classmethod
    def of(cls, weights: ArrayLike) -> Wheels:
        """Make the wheels; a row of weights need not sum to one."""
        table = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        running = np.cumsum(table, axis=1)
        shares = np.rint(running / running[:, -1:] * 2**_BITS).astype(np.int64)
        starts = np.arange(len(table), dtype=np.int64) << _BITS
        return cls((starts[:, None] + shares).ravel(), table.shape[1])

    def spin(self, rng: np.random.Generator, wheels: Ints) -> Ints:
        """Spin the given wheel for each row; a pocket of weight zero never comes up."""
        balls = (rng.random(len(wheels)) * 2**_BITS).astype(np.int64)
        balls += wheels << _BITS
        pockets: Ints = np.searchsorted(self.bounds, balls, side="right") - wheels * self.pockets
        return pockets


def spread(rng: np.random.Generator, rows: int, sigma: float) -> Floats:
    """Draw factors around a median of one, practically lognormal, within exp(±3.46 sigma).

    Examples
    --------
    >>> factors = spread(np.random.default_rng(1), 10_001, sigma=0.5)
    >>> bool(0.97 < np.median(factors) < 1.03), bool(factors.mean() > 1.1)
    (True, True)
    """
    # The sum of four uniform numbers is close to normal; its variance is 4/12.
    bell = rng.random(rows) + rng.random(rows) + rng.random(rows) + rng.random(rows)
    # exp(x) as (1 + x/1024)^1024, by squaring ten times.
    factors: Floats = 1.0 + (bell - 2.0) * (np.sqrt(3.0) * sigma / 1024)
    for _ in range(10):
        factors *= factors
    return factors
