"""What a loss measure is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from kohort.common.registry import Registry
from kohort.policy.hierarchy import Taxonomy

if TYPE_CHECKING:
    from kohort.codes.encode import LineAxis


Numbers = float | NDArray[np.float64]


class Measure(ABC):
    """Cost of publishing a value in general terms, 0 (exact) to 1 (fully generalized).

    A measure decides the cost of a taxonomy's nodes. Numbers and dates cost their interval's width
    over the column's range, unless the measure says otherwise.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    by_width: ClassVar[bool] = True
    """Whether an interval costs its width, so that the ends of a range are all that must be known of a column."""

    @abstractmethod
    def node_costs(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        """Cost of publishing each node; never less than that of a node below it."""

    def cell_costs(
        self, taxonomy: Taxonomy, leaves: NDArray[np.int32], nodes: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Cost of publishing each leaf as the node above it, as in the papers; a release is charged by node."""
        del leaves  # most measures look at the node alone
        return self.node_costs(taxonomy)[nodes]

    def positions(self, axis: LineAxis) -> NDArray[np.float64]:
        """Where each value lies on its line; an interval between two values costs the difference."""
        return axis.positions

    def interval_cost(self, axis: LineAxis, low: Numbers, high: Numbers) -> NDArray[np.float64]:
        """Cost of intervals whose ends need not be values of the table."""
        width = axis.high - axis.low
        return np.clip((np.asarray(high) - low) / width, 0.0, 1.0) if width > 0 else np.zeros(np.shape(low))


MEASURES: Registry[Measure] = Registry("measure")
