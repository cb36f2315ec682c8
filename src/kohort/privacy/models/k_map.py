"""k-map (Sweeney 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.base import MODELS, PopulationModel


@MODELS.register("k-map")
@dataclass(frozen=True)
class KMap(PopulationModel):
    """Every published combination of quasi-identifiers fits at least k people of a population.

    Examples
    --------
    >>> KMap(k=5, population="people.csv").keeps(np.array([3, 3]), np.array([4, 5])).tolist()
    [False, True]
    """

    k: Annotated[int, Limits(least=2)]
    """At least 2. It has nothing to do with the k of the policy, which is promised beside it."""
    population: str
    """Path of a CSV or Parquet file with the quasi-identifiers of the population, relative to the policy's folder."""

    summary = "every class fits at least k records of a population"
    paper = "Sweeney, PhD thesis, MIT 2001"

    @override
    def keeps(self, sizes: NDArray[np.int64], covered: NDArray[np.int64]) -> NDArray[np.bool_]:
        return covered >= self.k

    @override
    def refuses_population(self, covered: int) -> str | None:
        if covered >= self.k:
            return None
        return (
            f"k-map with k = {self.k} is impossible: even one class of all records covers {covered:,} records of the "
            "population; choose a smaller k or a larger population"
        )
