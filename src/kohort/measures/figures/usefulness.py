"""Usefulness (Loukides and Shao)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohort.measures.figures.base import FIGURES, Figure, Partition
from kohort.measures.figures.diversity import quasi_diversity, record_diversity


@FIGURES.register("usefulness")
@dataclass(frozen=True)
class Usefulness(Figure):
    """How diverse the quasi-identifiers of a class are; less is more useful.

    Each counts the share of its range or of its values that the published value covers. With the
    original, those of the records that fit the class are counted, too: definition 3 of 004, where no
    record fits two classes.
    """

    summary = "mean over classes of the share of each quasi-identifier's domain, summed; less is better"
    paper = "Loukides, Shao, SAC 2007; Netshiunda (004), definition 3"

    def of(self, partition: Partition) -> dict[str, Any]:
        """The mean over the classes, and that of the records which fit them, if the original is at hand."""
        if not len(partition.labels):
            return {}
        records = record_diversity(partition)
        found = {"mean": float(quasi_diversity(partition).mean())}
        return found if records is None else found | {"mean_of_records": float(records.mean())}
