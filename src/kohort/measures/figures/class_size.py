"""Average class size (C_avg)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohort.measures.figures.base import FIGURES, Figure, Partition


@FIGURES.register("class-size")
@dataclass(frozen=True)
class ClassSize(Figure):
    """How large the classes are, and how this compares with k."""

    summary = "records per class, and this over k (C_avg)"
    paper = "LeFevre, DeWitt, Ramakrishnan, ICDE 2006; Ni, Xie, Qian (000), table 10"

    def of(self, partition: Partition) -> dict[str, Any]:
        """The number of classes, their mean size as table 10 of 000 has it, and C_avg, which is that over k."""
        sizes = partition.sizes
        if not len(sizes):
            return {"classes": 0}
        mean = len(partition.labels) / len(sizes)
        return {
            "classes": len(sizes),
            "smallest": int(sizes.min()),
            "largest": int(sizes.max()),
            "mean": mean,
            "c_avg": mean / partition.k,
        }
