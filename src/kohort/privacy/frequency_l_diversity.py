"""Frequency l-diversity (He et al. 2012, paper 002, definition 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.privacy.base import MODELS, Histogram, SensitiveModel


@MODELS.register("frequency-l-diversity")
@dataclass(frozen=True)
class FrequencyLDiversity(SensitiveModel):
    """No sensitive value has more than a share of 1/l of any class.

    Parameters
    ----------
    column : str
        A sensitive column. A missing value counts as a value of its own.
    l : int
        At least 2.

    Examples
    --------
    >>> import numpy as np
    >>> FrequencyLDiversity("disease", l=2).refuses_values(np.array([5, 3]))
    "l = 2 is impossible for column 'disease': one value has 5 of 8 records; at most l = 1 can be kept"
    """

    column: str
    l: int  # noqa: E741 - the name that everybody knows it by

    summary = "no sensitive value has more than 1/l of a class"
    paper = "He et al., PAKDD 2012 (002)"

    def __post_init__(self) -> None:
        if not isinstance(self.l, int) or isinstance(self.l, bool) or self.l < 2:
            raise ValueError(f"'l' must be an integer of at least 2; got {self.l!r}")

    def keeps(self, classes: Histogram) -> NDArray[np.bool_]:
        """Which classes keep the promise."""
        return classes.largest * self.l <= classes.sizes

    def refuses_values(self, counts: NDArray[np.int64]) -> str | None:
        """Why no release of a table whose values occur so often can keep the promise; or None."""
        most, total = int(counts.max(initial=0)), int(counts.sum())
        if most * self.l <= total:
            return None
        return (
            f"l = {self.l} is impossible for column {self.column!r}: one value has {most:,} of {total:,} records; "
            f"at most l = {total // most} can be kept"
        )
