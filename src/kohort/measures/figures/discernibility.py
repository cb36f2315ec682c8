"""Discernibility metric (DM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohort.measures.figures.base import FIGURES, Figure, Partition


@FIGURES.register("discernibility")
@dataclass(frozen=True)
class Discernibility(Figure):
    """With how many records each record is confused, summed up.

    A record of a class of k or more costs the size of its class. A suppressed one, and one of a
    smaller class, costs the size of the whole table.
    """

    summary = "sum of squared class sizes; suppressed records and small classes cost the table"
    paper = "Bayardo, Agrawal, ICDE 2005; Netshiunda (004), 3.6.4"

    def of(self, partition: Partition) -> dict[str, Any]:
        """The sum, and the least that a release without suppression can have."""
        sizes, records = partition.sizes, partition.records
        kept = sizes[sizes >= partition.k]
        lost = partition.suppressed + int(sizes[sizes < partition.k].sum())
        return {"total": int((kept**2).sum()) + lost * records, "least": least_discernibility(records, partition.k)}


def least_discernibility(records: int, k: int) -> int:
    """The least sum: as many classes of at least k as there can be, as equal as possible.

    Examples
    --------
    >>> least_discernibility(2000, 15)
    30080
    """
    classes = max(records // k, 1)
    size, more = divmod(records, classes)
    return (classes - more) * size**2 + more * (size + 1) ** 2
