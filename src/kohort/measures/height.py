"""Height ratio (Byun et al. 2007; Vaghela, two-level, equations 1-2; Netshiunda, definition 14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.measures.base import MEASURES, Measure
from kohort.policy.hierarchy import Taxonomy


@MEASURES.register("height")
@dataclass(frozen=True)
class HeightRatio(Measure):
    """Height of the subtree at the published node over the height of the tree, in edges."""

    summary = "height of the published node's subtree / height of the tree"
    paper = "Byun et al., DASFAA 2007; Vaghela (001), eq. 1-2; Netshiunda (004), def. 14"

    @override
    def node_costs(self, taxonomy: Taxonomy) -> NDArray[np.float64]:
        return taxonomy.height / max(int(taxonomy.height[0]), 1)
