"""Sample uniqueness."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Share
from kohort.privacy.base import MODELS, SizeModel


@MODELS.register("sample-uniqueness")
@dataclass(frozen=True)
class SampleUniqueness(SizeModel):
    """The share of published records that are alone in their class is limited.

    Notes
    -----
    k-anonymity leaves nobody alone, so every release of kohort keeps it. It is checked all the same, and is meant for
    files of other tools.

    Examples
    --------
    >>> SampleUniqueness(most=0.1).keeps(np.array([1, 9])), SampleUniqueness(most=0.1).keeps(np.array([1, 8]))
    (True, False)
    """

    most: Share
    """Largest share, from 0 to 1."""

    summary = "at most a share of the records are alone in their class"
    paper = "Skinner, Elliot 2002"

    @property
    @override
    def least_size(self) -> int:
        return 2

    def figure(self, sizes: NDArray[np.int64]) -> Fraction:
        """Share of the records that are alone; 0 if there is no class."""
        return Fraction(int((sizes == 1).sum()), max(1, int(sizes.sum())))
