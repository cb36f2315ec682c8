"""Prosecutor, journalist, marketer: three people who look for somebody in a table, and how often they are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.reports.estimate import CONFIDENCE, Estimate

THRESHOLDS: Mapping[str, int] = {"0.05": 20, "0.09": 11, "0.2": 5, "0.33": 3}
"""Risks that are often taken for acceptable, and the number of people that each stands for: 0.09 is 1/11."""
_CELLS = 4_000_000
"""Random numbers that a population is drawn with, at most."""
_FEWEST, _MOST = 20, 99
_SEED = 1998


@dataclass(frozen=True)
class Attacker:
    """The chance of somebody to be right about whose record it is.

    Attributes
    ----------
    maximum, mean : float
        The largest chance of any record, and the mean.
    above : mapping
        For each of `THRESHOLDS`, the share of the records whose chance is above it.
    intervals : mapping
        For a figure that is estimated, ``maximum``, ``mean`` or a threshold: the interval in which it probably lies.
    """

    maximum: float
    mean: float
    above: Mapping[str, float]
    intervals: Mapping[str, Estimate] = field(default_factory=dict)

    @classmethod
    def of(cls, people: NDArray[np.int64], records: NDArray[np.int64]) -> Attacker:
        """Of the number of people that each group of records could be about, and the records of each group."""
        total = max(int(records.sum()), 1)
        chance = 1 / np.maximum(people, 1)
        above = {name: float(records[people < fewest].sum() / total) for name, fewest in THRESHOLDS.items()}
        return cls(float(chance.max(initial=0.0)), float(chance @ records / total), above)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        intervals = {name: {"low": one.low, "high": one.high} for name, one in self.intervals.items()}
        return {
            "maximum": self.maximum,
            "mean": self.mean,
            "above": dict(self.above),
            **({"intervals": intervals} if intervals else {}),
        }


def prosecutor(sizes: NDArray[np.int64]) -> Attacker:
    """Somebody who knows that a person is in the table: a class of f records leaves one chance in f."""
    return Attacker.of(sizes, sizes)


def journalist(people: NDArray[np.int64], sizes: NDArray[np.int64]) -> Attacker:
    """Somebody who knows a population: a class that F people of it fit leaves one chance in F.

    A class that fewer people fit than it has records is taken for one of as many people: they are in the table.
    """
    return Attacker.of(np.maximum(people, sizes), sizes)


def drawn_journalist(sizes: NDArray[np.int64], fraction: float) -> Attacker:
    """The same if only the size of the population is known, of which the table is a random sample.

    A class of f records is about f people and a negative binomial number of others, with the share of the population
    that is in the table as the chance (Benedetti, Franconi, NTTS 1998, whose individual risk is the mean of 1/F).
    Populations are drawn, and a figure is its mean over them, with the interval in which 95 % of them lie.
    """
    from scipy.stats import t

    draws = max(_FEWEST, min(_MOST, _CELLS // max(len(sizes), 1)))
    random = np.random.default_rng(_SEED)
    found = [Attacker.of(sizes + random.negative_binomial(sizes, fraction), sizes) for _ in range(draws)]
    reach = float(t.ppf((1 + CONFIDENCE) / 2, draws - 1)) * sqrt(1 + 1 / draws)
    names = ("maximum", "mean", *THRESHOLDS)
    figures = {name: np.array([_figure(one, name) for one in found]) for name in names}
    intervals = {name: _interval(values, reach) for name, values in figures.items()}
    above = {name: intervals[name].value for name in THRESHOLDS}
    return Attacker(intervals["maximum"].value, intervals["mean"].value, above, intervals)


def _figure(attacker: Attacker, name: str) -> float:
    if name in attacker.above:
        return attacker.above[name]
    return attacker.maximum if name == "maximum" else attacker.mean


def _interval(values: NDArray[np.float64], reach: float) -> Estimate:
    middle, half = float(values.mean()), float(values.std(ddof=1)) * reach
    return Estimate(middle, max(0.0, middle - half), min(1.0, middle + half))
