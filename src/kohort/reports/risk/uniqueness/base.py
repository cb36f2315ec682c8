"""What an estimator of population uniqueness is: the sizes of the classes of a sample in, unique people out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kohort.common.registry import Registry
from kohort.reports.estimate import CONFIDENCE, Estimate

_FEWEST, _MOST = 20, 99
"""Samples that an interval is drawn from."""
_RECORDS = 50_000_000
"""Records of all of them, if they are not the fewest."""
_SEED = 1998


@dataclass(frozen=True)
class Sample:
    """How large the classes of a table are, and of how many people it is a random sample."""

    sizes: NDArray[np.int64]
    """The sizes that occur, ascending."""
    classes: NDArray[np.int64]
    """Number of classes of each size."""
    population: int

    @classmethod
    def of(cls, sizes: NDArray[np.int64], population: int) -> Sample:
        """Of the size of every class; empty classes do not count."""
        found, classes = np.unique(sizes[sizes > 0], return_counts=True)
        return cls(found.astype(np.int64), classes.astype(np.int64), population)

    @cached_property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.sizes @ self.classes)

    @cached_property
    def number(self) -> int:
        """Number of classes."""
        return int(self.classes.sum())

    def of_size(self, size: int) -> int:
        """Number of classes of a size."""
        return int(self.classes[self.sizes == size].sum())

    @property
    def fraction(self) -> float:
        """Share of the population that is in the sample."""
        return self.rows / self.population


Drawn = tuple[Sample, float]
"""A sample that a model could have drawn, and how many are unique in the population that it comes from."""


@dataclass(frozen=True)
class Fitted:
    """An estimator that found its parameters."""

    uniques: float
    """People who are unique in the population."""
    draw: Callable[[np.random.Generator], Drawn]
    """One more sample, such as the one in hand could have been."""


class Estimator(ABC):
    """Estimates how many of a population are unique, from the sizes of the classes of a sample."""

    name: ClassVar[str]
    paper: ClassVar[str]

    @abstractmethod
    def fit(self, sample: Sample) -> Fitted | None:
        """Find the parameters for a sample with unique rows; None if there are none."""

    def estimate(self, sample: Sample) -> Estimate | None:
        """The share of the population that is unique, with an interval from samples drawn by the fitted model.

        The estimator is applied to up to 99 samples, and the interval allows for errors as large as it makes
        there (basic bootstrap of the logarithm). It says how far chance may have led the estimate astray, if the model
        fits; whether it fits, only the other estimators can show.
        """
        if sample.rows >= sample.population or not sample.of_size(1):
            share = sample.of_size(1) / sample.population
            return Estimate(share, share, share)
        found = self.fit(sample)
        if found is None:
            return None
        random, draws = np.random.default_rng(_SEED), max(_FEWEST, min(_MOST, _RECORDS // sample.rows))
        errors = [error for error in (self._error(found, random) for _ in range(draws)) if error is not None]
        low, high = found.uniques, found.uniques
        if errors:
            ends = np.quantile(errors, [(1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2])
            low, high = (float(found.uniques * np.exp(-end)) for end in ends)
        low, high = min(low, found.uniques), max(high, found.uniques)
        return Estimate(*(min(number / sample.population, 1.0) for number in (found.uniques, low, high)))

    def _error(self, found: Fitted, random: np.random.Generator) -> float | None:
        """How wrong it is about a sample that the model has drawn, as a logarithm; None if it finds nothing there."""
        drawn, truth = found.draw(random)
        if not drawn.of_size(1) or drawn.rows >= drawn.population:
            return None
        again = self.fit(drawn)
        return None if again is None else log((again.uniques + 0.5) / (truth + 0.5))


ESTIMATORS: Registry[Estimator] = Registry("estimator")
