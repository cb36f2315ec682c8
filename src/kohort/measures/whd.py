"""Weighted hierarchical distance (Li et al. 2006, KACA; Netshiunda, definition 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.measures.base import MEASURES, Measure
from kohort.policy.hierarchy import Taxonomy
from kohort.policy.parameters import Limits, require_number


@MEASURES.register("whd")
@dataclass(frozen=True)
class WeightedHierarchicalDistance(Measure):
    """Levels climbed, those near the root weighing more: level i to i - 1 weighs 1 / (i - 1)**beta.

    Levels count from 1 at the root to h at the deepest leaves. The sum over levels climbed is
    divided by the sum over all h - 1 steps (Li et al.); the thesis (004) prints the same sum only
    up to the value's own level, which is equal where all leaves lie equally deep.
    """

    beta: float = 1.0
    """At least 1; or 0 for uniform weights."""

    summary = "levels climbed, weighted by 1 / (level - 1)**beta, / all levels"
    paper = "Li et al., DaWaK 2006 (KACA); Netshiunda (004), def. 5"

    def __post_init__(self) -> None:
        if isinstance(self.beta, bool) or self.beta != 0:
            require_number("beta", self.beta, Limits(least=1, most=100, note=", or 0 for uniform weights"))

    def node_costs(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        """Cost of publishing each node, for the deepest leaf below it."""
        climbed = self.climbed(taxonomy)
        costs: NDArray[np.float64] = climbed[taxonomy.depth + taxonomy.height] - climbed[taxonomy.depth]
        return costs

    @override
    def cell_costs(
        self, taxonomy: Taxonomy, leaves: NDArray[np.int32], nodes: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        climbed = self.climbed(taxonomy)
        return climbed[taxonomy.depth[taxonomy.leaf_node[leaves]]] - climbed[taxonomy.depth[nodes]]

    def climbed(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        """Cost of the climb from each depth to the root."""
        steps = 1.0 / np.arange(1, taxonomy.levels) ** self.beta
        climbed: NDArray[np.float64] = np.concatenate([[0.0], np.cumsum(steps)])
        return climbed / max(float(climbed[-1]), 1e-300)
