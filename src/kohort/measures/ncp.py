"""Normalized certainty penalty (Xu et al. 2006; He et al. 2012, definition 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.measures.base import MEASURES, Measure
from kohort.policy.hierarchy import Taxonomy


@MEASURES.register("ncp")
@dataclass(frozen=True)
class NCP(Measure):
    """Share of the column's leaves that the published node leaves open; 0 if it is a single leaf.

    Its mean over records and columns is GCP, the global certainty penalty.
    """

    summary = "leaves under the published node / all leaves, 0 for a single leaf"
    paper = "Xu et al., KDD 2006; He et al., PAKDD 2012 (002)"

    @override
    def node_costs(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        leaves = taxonomy.last_leaf - taxonomy.first_leaf + 1
        return np.where(leaves > 1, leaves / taxonomy.n_leaves, 0.0)
