"""Average re-identification risk, prosecutor model (El Emam)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.base import MODELS, SizeModel


@MODELS.register("average-risk")
@dataclass(frozen=True)
class AverageRisk(SizeModel):
    """The average risk of published records to be found by their quasi-identifiers is limited.

    A record in a class of f has the risk 1/f, so the average is the number of classes divided by that of records.

    Notes
    -----
    It is kept by classes of at least 1/most records, rounded up. That is more than it asks for, which is a mean
    size of 1/most: then the largest risk is at most `most`, too.

    Examples
    --------
    >>> risk = AverageRisk(most=0.3)
    >>> risk.least_size, risk.keeps(np.array([2, 5])), risk.keeps(np.array([2, 4]))
    (4, True, False)
    """

    most: Annotated[float, Limits(above=0, most=1)]
    """Largest average risk, above 0 and up to 1."""

    summary = "classes / records is at most a limit"
    paper = "El Emam, Dankar 2008; ISO/IEC 27559"

    @property
    @override
    def least_size(self) -> int:
        return math.ceil(1 / Fraction(str(self.most)))

    def figure(self, sizes: NDArray[np.int64]) -> Fraction:
        """The average risk; 0 if there is no class."""
        return Fraction(len(sizes), max(1, int(sizes.sum())))

    @override
    def refuses(self, records: int, suppressed: int = 0) -> str | None:
        if records >= self.least_size:
            return None
        place = f"left after suppressing {suppressed}" if suppressed else "of the table"
        return (
            f"an average risk of {self.most} cannot be reached with the {records:,} records {place}: even one class of "
            f"all has 1/{records}; choose a larger one"
        )
