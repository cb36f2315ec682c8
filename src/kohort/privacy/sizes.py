"""Promises about the sizes of all classes together."""

from __future__ import annotations

import math
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


def check_share(name: str, value: object, *, zero: bool) -> None:
    """Refuse a parameter that is no share of something."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not 0 <= value <= 1 or (value == 0 and not zero):  # type: ignore[operator]
        what = "from 0 to 1" if zero else "above 0 and up to 1"
        raise ValueError(f"{name!r} must be a number {what}; got {value!r}")
