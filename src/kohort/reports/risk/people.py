"""The people that a table may be about: a population that is known, or only how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes
from kohort.codes.population import Population
from kohort.errors import PolicyError
from kohort.reports.published import Original, Published, population_of, precise_policy

Counted = NDArray[np.int64]
"""For each class of rows that are kept, how many people it could be about."""


@dataclass(frozen=True)
class People:
    """What is said about them: one of the three, or nothing.

    Attributes
    ----------
    table
        All of them, with their quasi-identifiers.
    size : int or None
        How many they are.
    fraction : float or None
        The share of them that is in the table.
    """

    table: Any = None
    size: int | None = None
    fraction: float | None = None

    def __post_init__(self) -> None:
        """Refuse several statements, or one that cannot be."""
        if sum(one is not None for one in (self.table, self.size, self.fraction)) > 1:
            raise PolicyError("population: it is given more than once; give a file, a size or a sampling fraction.")
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise PolicyError("sampling fraction: it must be more than 0, and 1 at most.")

    def number(self, rows: int) -> int | None:
        """How many they are, for a table of this size; None if nothing is said, or they have to be counted."""
        size = self.size if self.fraction is None else round(rows / self.fraction)
        if size is not None:
            _refuse_few(size, rows)
        return size

    def of_release(self, release: Published) -> tuple[int, Counted]:
        """Count them all, and those that the box of each class covers."""
        from kohort.kernels.cover import cover

        beside = release.beside(population_of(self.table, release.policy))
        _refuse_few(beside.records, release.rows)
        there = release.kept_classes
        people, boxes = beside.original_codes.distinct, beside.boxes.of(there)
        once = np.ones(len(there), np.int64)
        found: Counted = cover(boxes.lo, boxes.hi, once, people.codes, people.counts)[0]
        return beside.records, found

    def of_original(self, table: Published, source: Original) -> tuple[int, Counted]:
        """Count them all, and those that are like the records of each class.

        Parameters
        ----------
        table, source
            The same original, read in two ways; the order of the second is that of the file.
        """
        population = Population.of(self.table, precise_policy(table.policy), source.typed, source.codes)
        size = int(population.counts.sum())
        _refuse_few(size, table.rows)
        records = source.codes.distinct
        people = records.by_row(population.covered(Boxes(records.codes, records.codes)))
        of_class = np.zeros(len(table.sizes), np.int64)
        of_class[table.labels] = people[table.ordered.order]
        return size, of_class[table.kept_classes]


def _refuse_few(people: int, rows: int) -> None:
    if people < rows:
        raise PolicyError(f"population: it has {people:,} people and the table {rows:,} rows; give the whole of it.")
