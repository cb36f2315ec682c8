"""delta-presence (Nergiz, Atzori and Clifton 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits, Share
from kohort.privacy.base import MODELS, PopulationModel


@MODELS.register("delta-presence")
@dataclass(frozen=True)
class DeltaPresence(PopulationModel):
    """Whoever fits a published class is in the table with a probability between two limits.

    That is the share of the class's records in the records of the population that its description covers.

    Examples
    --------
    >>> limits = DeltaPresence(least=0.1, most=0.5, population="people.csv")
    >>> limits.keeps(np.array([5, 5, 5]), np.array([9, 10, 51])).tolist()
    [False, True, False]
    """

    least: Share
    most: Annotated[float, Limits(above=0, most=1)]
    """The limits, from 0 to 1."""
    population: str
    """Path of a CSV or Parquet file with the quasi-identifiers of the population, relative to the policy's folder. It
    holds the people of the table, too."""

    summary = "the share of a class in the population that it fits lies between two limits"
    paper = "Nergiz, Atzori, Clifton, SIGMOD 2007"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.least > self.most:
            raise ValueError(f"'least' must not be more than 'most'; got {self.least!r} and {self.most!r}")

    @override
    def keeps(self, sizes: NDArray[np.int64], covered: NDArray[np.int64]) -> NDArray[np.bool_]:
        least, most = Fraction(str(self.least)), Fraction(str(self.most))
        pairs = zip(sizes.tolist(), covered.tolist(), strict=True)
        return np.array([least * there <= here <= most * there for here, there in pairs], bool)
