"""Path length (Zhang et al. 2014, PAC, equation 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.measures.base import MEASURES
from kohort.measures.height import HeightRatio
from kohort.policy.hierarchy import Taxonomy


@MEASURES.register("path")
@dataclass(frozen=True)
class PathRatio(HeightRatio):
    """Edges from a value up to its published node over the height of the tree.

    On trees whose leaves all lie equally deep this is the height ratio. Where they do not, a
    value pays for its own path in the paper; a release is charged the longest path under the node:
    a function of what is published alone, and monotone.
    """

    summary = "edges from the value to the published node / height of the tree"
    paper = "Zhang et al., PAC (003), eq. 6"

    @override
    def cell_costs(
        self, taxonomy: Taxonomy, leaves: NDArray[np.int32], nodes: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        edges = taxonomy.depth[taxonomy.leaf_node[leaves]] - taxonomy.depth[nodes]
        return edges / max(int(taxonomy.height[0]), 1)
