"""What single columns say about people: how many values, and how many pairs of people they distinguish."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.reports.alike import separation


@dataclass(frozen=True)
class ColumnRisk:
    """One column.

    Attributes
    ----------
    distinction : float
        Distinct values over rows: 1 if every row has a value of its own.
    separation : float
        The share of pairs of rows that differ in it.
    unique : float
        The share of rows that are alone with their value.
    """

    name: str
    distinct: int
    distinction: float
    separation: float
    unique: float

    @classmethod
    def of(cls, name: str, numbers: NDArray[np.int32]) -> ColumnRisk:
        """Of a number for each row, equal for equal values."""
        counts = np.bincount(numbers) if len(numbers) else np.empty(0, np.int64)
        counts = counts[counts > 0]
        rows = max(len(numbers), 1)
        return cls(name, len(counts), len(counts) / rows, separation(counts), float((counts == 1).sum() / rows))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)
