"""ILoss (Xiao and Tao, SIGMOD 2006; the measure of the experiments of paper 003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.codes.encode import as_numbers
from kohort.measures.base import MEASURES, Measure, Numbers
from kohort.policy.hierarchy import Taxonomy

if TYPE_CHECKING:
    from kohort.codes.encode import LineAxis


@MEASURES.register("iloss")
@dataclass(frozen=True)
class ILoss(Measure):
    """Further values that could be meant, over all values of the column.

    The domain of a taxonomy is its leaves. That of numbers and dates is the distinct values of the
    table, so an interval is charged for the values it covers, not for its width.
    """

    summary = "(values under the published one - 1) / all values, for numbers, too"
    paper = "Xiao, Tao, SIGMOD 2006; Zhang et al., PAC (003), section 6"
    by_width = False

    @override
    def node_costs(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        return (taxonomy.last_leaf - taxonomy.first_leaf) / taxonomy.n_leaves

    def positions(self, axis: LineAxis) -> NDArray[np.float64]:
        """Rank of each value over the number of values."""
        numbers = axis.numbers
        return np.searchsorted(numbers, as_numbers(axis.values)) / max(len(numbers), 1)

    def interval_cost(self, axis: LineAxis, low: Numbers, high: Numbers) -> NDArray[np.float64]:
        """Cost of intervals, by the values of the table inside them."""
        numbers = axis.numbers
        covered = np.searchsorted(numbers, high, side="right") - np.searchsorted(numbers, low, side="left")
        return np.asarray(np.maximum(covered - 1, 0) / max(len(numbers), 1), np.float64)
