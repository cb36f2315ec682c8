"""Usefulness (Loukides and Shao)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohort.measures.figures.base import FIGURES, Figure, Partition
from kohort.measures.figures.diversity import quasi_diversity


@FIGURES.register("usefulness")
@dataclass(frozen=True)
class Usefulness(Figure):
    """How diverse the quasi-identifiers of a class are; less is more useful.

    Each counts the share of its range or of its values that the published value covers. Where
    boxes are tight and no value in them is absent, this is definition 3 of 004, which counts
    the values of the members; a release does not show those.
    """

    summary = "mean over classes of the share of each quasi-identifier's domain, summed; less is better"
    paper = "Loukides, Shao, SAC 2007; Netshiunda (004), definition 3"

    def of(self, partition: Partition) -> dict[str, Any]:
        """The mean over the classes."""
        return {"mean": float(quasi_diversity(partition).mean())} if len(partition.labels) else {}
