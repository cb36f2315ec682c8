"""What a loss measure is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kohort.hierarchy import Taxonomy
from kohort.registry import Registry


class Measure(ABC):
    """Cost of publishing a value in general terms, 0 (exact) to 1 (fully generalized).

    Numbers and dates cost their interval's width over the column's range in every measure of the
    papers; a measure decides the cost of a taxonomy's nodes.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]

    @abstractmethod
    def node_costs(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        """Cost of publishing each node; never less than that of a node below it."""

    def cell_costs(
        self, taxonomy: Taxonomy, leaves: NDArray[np.int32], nodes: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Cost of publishing each leaf as the node above it."""
        del leaves  # most measures look at the node alone
        return self.node_costs(taxonomy)[nodes]


MEASURES: Registry[Measure] = Registry("measure")
