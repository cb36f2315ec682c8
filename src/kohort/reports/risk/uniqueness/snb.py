"""SNB: population classes have one record and a negative binomial number of others."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from kohort.reports.risk.uniqueness.base import ESTIMATORS, Drawn, Estimator, Fitted, Sample

_STARTS = ((0.1, 0.01), (0.5, 0.1), (1.0, 0.5), (0.01, 0.001), (2.0, 0.9), (5.0, 0.99))
"""Shapes and chances from which a solution is searched for."""
_NEAR = 1e-6
"""How far the expected numbers of classes of one and of two may be from those of the sample, as a share."""
_BEYOND = 8.0
"""Larger logarithms of a shape mean that there is none: the model has become another one."""


@ESTIMATORS.register("snb")
@dataclass(frozen=True)
class Snb(Estimator):
    """Slide negative binomial: the shape and the chance follow from the numbers of classes of one and of two records.

    How many classes the population has is estimated first (Shlosser's estimator, as Haas and Stokes correct it). It has
    no answer where no shape and chance give these numbers.
    """

    paper = "Chen, Keller-McNulty, J. Official Statistics 14(1), 1998; Haas, Stokes, JASA 93, 1998, equation 27"

    def fit(self, sample: Sample) -> Fitted | None:
        """Solve two equations for two unknowns."""
        classes = population_classes(sample)
        found = solved(sample, classes)
        if found is None:
            return None
        shape, chance = found
        return Fitted(classes * chance**shape, lambda random: _drawn(sample, round(classes), shape, chance, random))


def population_classes(sample: Sample) -> float:
    """How many classes the population has: Shlosser's estimator, corrected for classes of unequal sizes."""
    q, sizes, classes = sample.fraction, sample.sizes.astype(np.float64), sample.classes
    none = (1 - q) ** sizes @ classes
    once = (sizes * q * (1 - q) ** (sizes - 1)) @ classes
    twice_thinned = (sizes * q * q * (1 - q * q) ** (sizes - 1)) @ classes
    # (1-q)^i ((1+q)^i - 1), which would overflow for large classes
    lost = ((1 - q * q) ** sizes - (1 - q) ** sizes) @ classes
    return float(sample.number + sample.of_size(1) * twice_thinned / lost * (none / once) ** 2)


def sample_sizes(shape: float, chance: float, fraction: float, most: int) -> NDArray[np.float64]:
    """How likely a population class leaves 0, 1, ..., `most` records in the sample."""
    from scipy.stats import nbinom

    # others are thinned to a negative binomial number again, and the first record is there or not
    thinned = chance / (chance + fraction * (1 - chance))
    others = nbinom.pmf(np.arange(most + 1), shape, thinned)
    found = (1 - fraction) * others
    found[1:] += fraction * others[:-1]
    return np.asarray(found)


def one_and_two(shape: float, chance: float, fraction: float) -> tuple[float, float]:
    """The same for one record and for two: the derivatives of the generating function at 1 - `fraction`."""
    unseen = (1 - fraction) * (1 - chance)
    seen = 1 - unseen
    of_one = fraction * (chance / seen) ** shape
    two = fraction * (1 - chance) * shape * (2 - (1 - shape) * unseen) / (2 * seen * seen)
    return of_one * (1 + shape * unseen / seen), of_one * two


def solved(sample: Sample, classes: float) -> tuple[float, float] | None:
    """The shape and the chance."""
    from scipy.optimize import root
    from scipy.special import expit

    wanted = sample.of_size(1) / classes, sample.of_size(2) / classes
    if not all(wanted):
        return None

    def missed(unknown: NDArray[np.float64]) -> list[float]:
        shape, chance = np.exp(np.clip(unknown[0], -30, 30)), expit(np.clip(unknown[1], -30, 30))
        found = one_and_two(float(shape), float(chance), sample.fraction)
        return [log(max(share, 1e-300) / goal) for share, goal in zip(found, wanted, strict=True)]

    for shape, chance in _STARTS:
        found = root(missed, np.array([np.log(shape), np.log(chance / (1 - chance))]))
        if max(map(abs, missed(found.x))) < _NEAR and np.abs(found.x[0]) < _BEYOND and found.x[1] < 30:
            return float(np.exp(found.x[0])), float(expit(found.x[1]))
    return None


def _drawn(sample: Sample, classes: int, shape: float, chance: float, random: np.random.Generator) -> Drawn:
    """Population classes, and what a sample holds of them: those of one, there or not, and all others by size."""
    most = int(sample.sizes[-1]) * 4 + 16
    likely = sample_sizes(shape, chance, sample.fraction, most)
    unique, fraction = chance**shape, sample.fraction
    likely[:2] -= unique * (1 - fraction), unique * fraction
    likely = np.maximum(np.concatenate([[unique * (1 - fraction), unique * fraction], likely]), 0.0)
    drawn = random.multinomial(classes, likely / likely.sum())
    by_size = drawn[2:].copy()
    by_size[:2] += drawn[:2]
    there = np.flatnonzero(by_size[1:]) + 1
    return Sample(there, by_size[there], sample.population), float(drawn[:2].sum())
