"""Zayatz: which sizes of population classes could have left one record in the sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.reports.risk.uniqueness.base import ESTIMATORS, Drawn, Estimator, Fitted, Sample


@ESTIMATORS.register("zayatz")
@dataclass(frozen=True)
class Zayatz(Estimator):
    """Takes the sizes of the sample's classes for those of the population's, and turns the question round by Bayes.

    A record that is unique in the sample comes from a population class of one with a probability that follows from how
    likely classes of one, two, three and more leave exactly one record in the sample. It always has an answer.
    """

    paper = "Zayatz, Bureau of the Census SRD 91/08, 1991"

    def fit(self, sample: Sample) -> Fitted:
        """The expected number of people who are unique."""
        return Fitted(_uniques(sample), lambda random: _drawn(sample, random))


def _uniques(sample: Sample) -> float:
    alone = alone_of_size(sample)
    return float(sample.of_size(1) ** 2 / (sample.classes @ alone))


def alone_of_size(sample: Sample) -> NDArray[np.float64]:
    """How likely a population class of each size leaves exactly one record in the sample (hypergeometric).

    Of i records, one of i is drawn with the sampling fraction, and no other of i - 1 among the n - 1 further draws.
    """
    further, others = sample.rows - 1, np.arange(sample.sizes[-1] - 1)
    drawn = np.minimum(further / np.maximum(sample.population - 1 - others, 1), 1 - 1e-16)
    none = np.exp(np.concatenate([[0.0], np.cumsum(np.log1p(-drawn))]))
    found: NDArray[np.float64] = sample.sizes * sample.fraction * none[sample.sizes - 1]
    return found


def _drawn(sample: Sample, random: np.random.Generator) -> Drawn:
    """As many classes, each of a size that one of the sample has: there is no model to draw from."""
    again = random.multinomial(sample.number, sample.classes / sample.number)
    there = again > 0
    drawn = Sample(sample.sizes[there], again[there], sample.population)
    return drawn, _uniques(sample)
