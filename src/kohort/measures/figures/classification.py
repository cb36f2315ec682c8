"""Classification metric (CM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohort.measures.figures.base import FIGURES, Figure, Partition
from kohort.measures.figures.counts import value_counts


@FIGURES.register("classification")
@dataclass(frozen=True)
class Classification(Figure):
    """Records that a model of the classes would get wrong.

    It would predict for everybody of a class the most frequent sensitive value there. Whichever of
    several equally frequent ones it predicts, the number of errors is the same.
    """

    summary = "share of records that are suppressed or have not the most frequent sensitive value of their class"
    paper = "Iyengar, KDD 2002; Netshiunda (004), 3.6.3"
    uses_sensitive = True

    def of(self, partition: Partition) -> dict[str, Any]:
        """The share of the records of the original, for each sensitive column."""
        return {
            name: (partition.records - int(counts.largest.sum())) / partition.records
            for name, counts in value_counts(partition).items()
        }
