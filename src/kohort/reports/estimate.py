"""A figure that was estimated from some cases, with the interval in which it probably lies."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A figure that is not known exactly.

    Attributes
    ----------
    value : float
        The best guess.
    low, high : float
        Ends of the interval.
    confidence : float
        How often such an interval holds the true figure.
    """

    value: float
    low: float
    high: float
    confidence: float = CONFIDENCE

    @classmethod
    def of_share(cls, hits: int, cases: int, confidence: float = CONFIDENCE) -> Estimate:
        """Estimate a share from independent cases: Wilson's interval, which holds for few cases and for 0 and 1, too.

        Examples
        --------
        >>> found = Estimate.of_share(8, 10)
        >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
        (0.8, 0.49, 0.94)
        >>> Estimate.of_share(0, 0)
        Estimate(value=0.0, low=0.0, high=1.0, confidence=0.95)
        """
        if cases == 0:
            return cls(0.0, 0.0, 1.0, confidence)
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        share = hits / cases
        middle = (share + z * z / (2 * cases)) / (1 + z * z / cases)
        half = z * sqrt(share * (1 - share) / cases + z * z / (4 * cases * cases)) / (1 + z * z / cases)
        low = 0.0 if hits == 0 else max(0.0, middle - half)
        high = 1.0 if hits == cases else min(1.0, middle + half)
        return cls(share, low, high, confidence)

    @classmethod
    def exactly(cls, value: float) -> Estimate:
        """A figure that was counted, so that its interval has no width."""
        return cls(value, value, value, 1.0)

    def minus(self, other: Estimate) -> Estimate:
        """By how much it is larger than another one that was found independently: Newcombe's interval (1998).

        Examples
        --------
        >>> found = Estimate.of_share(56, 70).minus(Estimate.of_share(48, 80))
        >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
        (0.2, 0.0524, 0.3339)
        """
        value = self.value - other.value
        low = value - sqrt((self.value - self.low) ** 2 + (other.high - other.value) ** 2)
        high = value + sqrt((self.high - self.value) ** 2 + (other.value - other.low) ** 2)
        return Estimate(value, low, high, min(self.confidence, other.confidence))

    @classmethod
    def of_ratio(
        cls, above: NDArray[np.float64], below: NDArray[np.float64], confidence: float = CONFIDENCE
    ) -> Estimate:
        """Estimate the ratio of two means over the same independent cases: the interval is by linearisation.

        Examples
        --------
        >>> found = Estimate.of_ratio(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
        >>> found.value, found.low, found.high
        (0.5, 0.5, 0.5)
        """
        ratio = float(above.sum() / below.sum())
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        half = z * float((above - ratio * below).std() / below.mean()) / sqrt(len(above))
        return cls(ratio, ratio - half, ratio + half, confidence)
