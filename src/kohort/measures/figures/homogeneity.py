"""Homogeneity: whose sensitive value a class gives away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohort.measures.figures.base import FIGURES, Figure, Partition
from kohort.measures.figures.counts import value_counts


@FIGURES.register("homogeneity")
@dataclass(frozen=True)
class Homogeneity(Figure):
    """Records of classes in which everybody has the same sensitive value.

    Who knows that somebody is in such a class knows the value, however large the class is.
    """

    summary = "share of published records in classes with a single sensitive value"
    paper = "Machanavajjhala et al., ICDE 2006"
    uses_sensitive = True

    def of(self, partition: Partition) -> dict[str, Any]:
        """The share of the published records, for each sensitive column."""
        return {
            name: int(counts.sizes[counts.sizes == counts.largest].sum()) / max(len(partition.labels), 1)
            for name, counts in value_counts(partition).items()
        }
