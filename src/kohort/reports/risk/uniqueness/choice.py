"""How many of a population are unique: the estimators side by side, and which of them is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.reports.estimate import Estimate
from kohort.reports.risk.uniqueness.base import ESTIMATORS, Sample

COUNTED = "counted"
"""What is said to be chosen if the population is known."""
SMALL = 0.1
"""A sample of at most this share of a population is a small one."""


@dataclass(frozen=True)
class Uniqueness:
    """The share of a population that is unique.

    Attributes
    ----------
    population : int
        Number of people.
    estimates : mapping
        By estimator; None where it has no answer. Empty if the population is known.
    chosen : str
        Whose estimate is taken by the rule of Dankar and others; `COUNTED` if the population is known.
    share : Estimate
        That estimate: the share of the population, and of the rows, that are of somebody unique in the population.
    """

    population: int
    estimates: Mapping[str, Estimate | None]
    chosen: str
    share: Estimate

    @property
    def ends(self) -> tuple[float, float]:
        """Between which ends all estimates are, with their intervals: how far the choice of one may be wrong."""
        found = [one for one in self.estimates.values() if one is not None] or [self.share]
        return min(one.low for one in found), max(one.high for one in found)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        low, high = self.ends
        return asdict(self) | {"low": low, "high": high}


def uniqueness_of(sizes: NDArray[np.int64], population: int, people: NDArray[np.int64] | None = None) -> Uniqueness:
    """Estimate it from the size of every class; or count classes of one record that one person fits."""
    if people is not None:
        share = float(((people == 1) & (sizes == 1)).sum() / max(int(sizes.sum()), 1))
        return Uniqueness(population, {}, COUNTED, Estimate(share, share, share))
    sample = Sample.of(sizes, population)
    found = {name: ESTIMATORS.make(name, {}).estimate(sample) for name in ESTIMATORS}
    chosen = choice(found, sample.fraction)
    taken = found[chosen]
    assert taken is not None
    return Uniqueness(population, found, chosen, taken)


def choice(estimates: Mapping[str, Estimate | None], fraction: float) -> str:
    """Which estimate is taken: the rule of Dankar, El Emam, Neisa, Roffey (BMC Med. Inform. Decis. Mak. 12:66, 2012).

    Of a small sample Pitman's; of a larger one the smaller of Zayatz's and SNB's. Zayatz's where there is no other.
    """
    zayatz, pitman, snb = (estimates[name] for name in ("zayatz", "pitman", "snb"))
    if fraction <= SMALL:
        return "zayatz" if pitman is None else "pitman"
    return "snb" if snb is not None and zayatz is not None and snb.value < zayatz.value else "zayatz"
