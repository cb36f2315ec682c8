"""Protection (Loukides and Shao)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohort.measures.figures.base import FIGURES, Figure, Partition
from kohort.measures.figures.diversity import sensitive_diversity


@FIGURES.register("protection")
@dataclass(frozen=True)
class Protection(Figure):
    """How little the sensitive values of a class differ from those of others; less protects better.

    1 over the diversity of a class. A class whose sensitive numbers are all equal has no diversity
    and no protection: 1/0. Such classes are counted apart, and the mean is that of the others: None if
    there is no other, as where every sensitive number is missing.
    """

    summary = "mean over classes of 1 / diversity of the sensitive values; less is better"
    paper = "Loukides, Shao, SAC 2007; Netshiunda (004), definition 4"
    uses_sensitive = True

    def of(self, partition: Partition) -> dict[str, Any]:
        """The mean over the classes that have any diversity, and the number of those that have none."""
        if not len(partition.labels):
            return {}
        diversity = sensitive_diversity(partition)
        diverse = diversity[diversity > 0]
        mean = float((1 / diverse).mean()) if len(diverse) else None
        return {"mean": mean, "classes_without": int((diversity == 0).sum())}
