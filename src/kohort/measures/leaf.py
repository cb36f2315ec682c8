"""Leaf ratio (Ni, Xie and Qian, GCCG, equation 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.measures.base import MEASURES, Measure
from kohort.policy.hierarchy import Taxonomy


@MEASURES.register("leaf")
@dataclass(frozen=True)
class LeafRatio(Measure):
    """Leaves under the published node over all leaves, taken literally: a leaf costs 1 / leaves."""

    summary = "leaves under the published node / all leaves, also for a leaf"
    paper = "Ni, Xie, Qian: GCCG (000), eq. 1-3"

    @override
    def node_costs(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        return (taxonomy.last_leaf - taxonomy.first_leaf + 1) / taxonomy.n_leaves
