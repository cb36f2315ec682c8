"""Promises about the people of a population that a published description fits."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from kohort.privacy.base import PrivacyModel


class PopulationModel(PrivacyModel):
    """A promise about how many records of a population each class could be about."""

    population: str
    """Path of the population's file, relative to the policy's folder."""

    def __post_init__(self) -> None:
        super().__post_init__()
        path: object = self.population
        if not isinstance(path, str) or not path.strip() or "\0" in path:
            raise ValueError("'population' must be the path of a file with the quasi-identifiers of a population")

    @abstractmethod
    def keeps(self, sizes: NDArray[np.int64], covered: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which classes keep the promise.

        Parameters
        ----------
        sizes : int64[classes]
            Records of each class.
        covered : int64[classes]
            Records of the population that its description covers.
        """

    def refuses_population(self, covered: int) -> str | None:
        """Why nothing keeps the promise if one class of all records covers so many of the population; or None."""
        return None
