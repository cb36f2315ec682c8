"""Pitman: records come one after the other, and classes that have many get more."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from kohort.reports.risk.uniqueness.base import ESTIMATORS, Drawn, Estimator, Fitted, Sample

_LEAST, _MOST = 1e-5, 0.999
"""Of alpha: what lies beyond is another model."""
_STEP = 0.05
"""A population grows by this share in one step when it is drawn."""


@ESTIMATORS.register("pitman")
@dataclass(frozen=True)
class Pitman(Estimator):
    """Ewens-Pitman: records come one after the other, and one begins a class of its own or joins one that is there.

    With u classes of n records, the next one begins a class with probability (theta + alpha u) / (theta + n), and joins
    one of m with (m - alpha) / (theta + n). Theta and alpha are found by maximum likelihood. It has no answer where the
    likelihood has no maximum with 0 < alpha < 1, as where every record is unique.
    """

    paper = "Pitman, Probability Theory and Related Fields 102, 1995; Hoshino, J. Official Statistics 17(4), 2001"

    def fit(self, sample: Sample) -> Fitted | None:
        """Maximize the likelihood."""
        found = most_likely(sample)
        if found is None:
            return None
        theta, alpha = found
        return Fitted(
            expected_uniques(theta, alpha, sample.population), lambda random: _drawn(sample, theta, alpha, random)
        )


def expected_uniques(theta: float, alpha: float, population: int) -> float:
    """The expected number of classes of one record: N (theta + alpha)_(N-1) / (theta + 1)_(N-1), rising factorials."""
    from scipy.special import gammaln

    last = population - 1
    rising = gammaln(theta + alpha + last) - gammaln(theta + alpha) - gammaln(theta + 1 + last) + gammaln(theta + 1)
    return population * exp(float(rising))


def most_likely(sample: Sample) -> tuple[float, float] | None:
    """Theta and alpha: for every alpha the best theta, and of these the best."""
    from scipy.optimize import brentq

    if sample.number == sample.rows or sample.number == 1:
        return None

    def slope(alpha: float) -> float:
        return _by_alpha(sample, _best_theta(sample, alpha), alpha)

    if slope(_LEAST) <= 0 or slope(_MOST) >= 0:
        return None
    alpha = brentq(slope, _LEAST, _MOST, xtol=1e-12)
    return _best_theta(sample, alpha), alpha


def _best_theta(sample: Sample, alpha: float) -> float:
    """Where the derivative of the likelihood by theta is 0; it falls from plus infinity to below 0."""
    from scipy.optimize import brentq

    low, high = 1e-9, 1.0
    while _by_theta(sample, high - alpha, alpha) > 0:
        low, high = high, high * 4
    while _by_theta(sample, low - alpha, alpha) < 0:
        low, high = low / 4, low
    return (
        float(brentq(lambda shifted: _by_theta(sample, shifted - alpha, alpha), low, high, xtol=1e-12, rtol=1e-14))
        - alpha
    )


def _by_theta(sample: Sample, theta: float, alpha: float) -> float:
    """Derivative of the logarithm of the likelihood by theta."""
    from scipy.special import digamma

    new = (digamma(theta / alpha + sample.number) - digamma(theta / alpha + 1)) / alpha
    return float(new - digamma(theta + sample.rows) + digamma(theta + 1))


def _by_alpha(sample: Sample, theta: float, alpha: float) -> float:
    """Derivative of the logarithm of the likelihood by alpha."""
    from scipy.special import digamma

    new = (digamma(theta / alpha + sample.number) - digamma(theta / alpha + 1)) / alpha
    known = (digamma(sample.sizes - alpha) - digamma(1 - alpha)) @ sample.classes
    return float((sample.number - 1 - theta * new) / alpha - known)


def _drawn(sample: Sample, theta: float, alpha: float, random: np.random.Generator) -> Drawn:
    """Records one after the other, then the rest of the population in leaps."""
    from kohort.kernels.pitman import class_sizes

    sizes = class_sizes(sample.rows, theta, alpha, random.integers(2**63, dtype=np.uint64))
    drawn = Sample.of(sizes, sample.population)
    there, classes, alone = drawn.rows, float(drawn.number), float(drawn.of_size(1))
    while there < sample.population:
        leap = min(max(int(there * _STEP), 1), sample.population - there)
        middle = theta + there + leap / 2
        joined = random.poisson(leap * alone * (1 - alpha) / middle)
        new = random.poisson(leap * (theta + alpha * classes) / middle)
        classes, alone, there = classes + new, max(alone + new - joined, 0.0), there + leap
    return drawn, alone
