"""Promises about the sizes of all classes together."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kohort.privacy.base import PrivacyModel


class SizeModel(PrivacyModel):
    """A promise about how large the classes of a release are, taken together: a figure of them is at most a limit."""

    most: float

    @property
    @abstractmethod
    def least_size(self) -> int:
        """Classes of at least so many records keep the promise, however many they are."""

    @abstractmethod
    def figure(self, sizes: NDArray[np.int64]) -> Fraction:
        """What is limited, for classes of these sizes; 0 if there is none."""

    def keeps(self, sizes: NDArray[np.int64]) -> bool:
        """Whether classes of these sizes keep the promise: `most` is the decimal number that the policy writes."""
        return self.figure(sizes) <= Fraction(str(self.most))
