"""Classes of k persons, where a person may have several records.

Algorithms count records. Where k is all that is promised, a person therefore takes part once for each combination of
quasi-identifiers: in the usual table of visits, where these are the same on all visits, k records are then k persons
already. With an algorithm or a further privacy model that looks at sensitive values or at a population, every record
takes part. Afterwards, a class that still has fewer than k persons joins the class that costs least. If that breaks a
further model, the repair stage goes on, and treats k persons in every class as one more promise.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from typing_extensions import override

from kohort.codes.boxes import Boxes, Solution, classes_of_boxes
from kohort.codes.encode import Codes
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.privacy import Histogram, Promise, Reference, SensitiveColumn, SensitiveModel
from kohort.privacy.rules import Rule, listed
from kohort.search.task import Task
from kohort.table.identities import identities
from kohort.table.words import counted


def persons_of(table: pl.DataFrame, usable: NDArray[np.int64], policy: Policy) -> NDArray[np.int64] | None:
    """Number of the person that each usable record is about; None if the policy counts records.

    Parameters
    ----------
    table : DataFrame
        The table as read.
    usable : array of int64
        Rows of it that take part.

    Raises
    ------
    DataError
        When a record does not say who it is about.
    """
    name = policy.privacy.person
    if name is None:
        return None
    who = identities(table[name], policy)
    unknown = who.is_null()
    if unknown.any():
        lack = counted(int(unknown.sum()), "record does", "records do")
        row = int(unknown.arg_true()[0]) + 1
        raise DataError(
            f"column {name!r}: {lack} not say who the person is (first in row {row}), so persons cannot be counted; "
            "complete the column, or remove 'person' from [privacy]."
        )
    return np.unique(who.to_numpy()[usable], return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class Work:
    """A task, as an algorithm sees it that counts records where persons are meant."""

    whole: Task
    """About all records."""
    persons: NDArray[np.int64] | None = None
    """Person of each record; None if records are what is meant."""

    @cached_property
    def _alike(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """One record of each person and combination, and which of them stands for each record.

        An algorithm that looks at sensitive values must see every record.
        """
        if self.persons is None or self.whole.sensitive is not None or self.whole.promises or self.whole.coverages:
            return None
        rows = self.whole.codes.distinct
        combination = rows.by_row(np.arange(len(rows.counts)))
        pairs = combination * (int(self.persons.max()) + 1) + self.persons
        _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
        return first, which

    @cached_property
    def task(self) -> Task:
        """What the algorithm works on."""
        if self._alike is None:
            return self.whole
        first, which = self._alike
        array = np.ascontiguousarray(self.whole.codes.array[first])
        # Whoever is suppressed takes all equal records along.
        allowance = self.whole.allowance // int(np.bincount(which).max())
        return replace(self.whole, codes=Codes(array, self.whole.codes.axes), allowance=allowance)

    def of_records(self, solution: Solution) -> Solution:
        """What an algorithm found, for all records."""
        if self._alike is None:
            return solution
        _, which = self._alike
        kept = None if solution.kept is None else solution.kept[which]
        return replace(solution, boxes=Boxes(solution.boxes.lo[which], solution.boxes.hi[which]), kept=kept)

    def finished(self, solution: Solution) -> Solution:
        """What an algorithm found, for all records, and with k persons in every class."""
        if self.persons is None:
            return solution
        return with_k_persons(self.whole, self.of_records(solution), self.persons)

    @property
    def promised(self) -> Task:
        """The task about all records, with k persons in every class as one more promise if there are others."""
        return self.counted if self.whole.promises or self.whole.coverages else self.whole

    @property
    def counted(self) -> Task:
        """The task about all records, with k persons in every class as one more promise."""
        if self.persons is None:
            return self.whole
        promise = promise_of_persons("person", self.whole.k, self.persons)
        return replace(self.whole, promises=(*self.whole.promises, promise))


@dataclass(frozen=True)
class KPersons(SensitiveModel):
    """Every class is about at least k persons: in the form of a promise about values, for the repair stage."""

    column: str
    """The column that names the person."""
    k: int

    name = "k persons"
    summary = "every class is about at least k persons"
    paper = "kohort"

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return classes.distinct >= self.k

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (listed(self.k),)


def promise_of_persons(column: str, k: int, persons: NDArray[np.int64]) -> Promise:
    """That every class is about at least k persons, as a promise about the records of a table."""
    counts = np.bincount(persons)
    described = SensitiveColumn(column, len(counts), False, None, None, None)
    return Promise(KPersons(column, k), Reference((described,), np.arange(len(counts))[:, None], counts), persons)


def with_k_persons(task: Task, solution: Solution, persons: NDArray[np.int64]) -> Solution:
    """Let classes join until each has k persons; there must be that many.

    Parameters
    ----------
    persons : array of int64
        Person of each record.
    """
    kept = np.ones(len(persons), bool) if solution.kept is None else solution.kept
    if len(np.unique(persons[kept])) < task.k:
        # Too few persons are left to hide among: nobody is withheld, and all are one class.
        everyone = np.zeros(len(persons), np.int32)
        return Solution.of_labels(task.codes, everyone, {"too few persons": "left, so that all records are one class"})
    labels = classes_of_boxes(task.codes.axes, solution.boxes.of(kept))
    _, first = np.unique(labels, return_index=True)
    boxes = Boxes(solution.boxes.lo[kept][first], solution.boxes.hi[kept][first])
    classes = _Classes(task, boxes, np.bincount(labels), _members(labels, persons[kept]))
    joined = classes.join()
    if not joined:
        return solution
    into = classes.into[labels]
    lo, hi = solution.boxes.lo.copy(), solution.boxes.hi.copy()
    lo[kept], hi[kept] = classes.boxes.lows[into], classes.boxes.highs[into]
    # What the algorithm reports is about its own classes.
    facts = {"too few persons": f"in {joined:,} of {len(first):,} classes, which joined others"}
    before = {"before that": dict(solution.facts)} if solution.facts else {}
    return Solution(Boxes(lo, hi), len(first) - joined, solution.kept, facts | before)


def _members(labels: NDArray[np.int64], persons: NDArray[np.int64]) -> list[set[int]]:
    """The persons of each class."""
    most = int(persons.max()) + 1
    pairs = np.unique(labels * most + persons)
    starts = np.flatnonzero(np.diff(pairs // most)) + 1
    return [set(part.tolist()) for part in np.split(pairs % most, starts)]


class _Classes:
    """Classes that join each other: the persons of each, and its box."""

    def __init__(self, task: Task, boxes: Boxes, sizes: NDArray[np.int64], persons: list[set[int]]) -> None:
        from kohort.kernels.boxes import empty_boxes
        from kohort.kernels.search.join import fill

        self._task = task
        self._persons = persons
        self._parent = np.arange(len(sizes))
        self.boxes = empty_boxes(*boxes.lo.shape)
        self.boxes.lows[:], self.boxes.highs[:], self.boxes.sizes[:] = boxes.lo, boxes.hi, sizes
        fill(task.costs, self.boxes)

    def join(self) -> int:
        """Let classes of fewer than k persons join their nearest, those of the fewest first; return how many did."""
        from kohort.kernels.search.join import join, nearest

        k, costs, persons = self._task.k, self._task.costs, self._persons
        few = [(len(some), one) for one, some in enumerate(persons) if len(some) < k]
        heapq.heapify(few)
        first, joined = len(few), 0
        while few:
            count, one = heapq.heappop(few)
            if count != len(persons[one]):
                continue  # it is gone, or somebody has joined it
            other = int(nearest(costs, self.boxes, one))
            join(costs, self.boxes, one, other)
            persons[other] |= persons[one]
            persons[one] = set()
            self._parent[one] = other
            joined += 1
            if len(persons[other]) < k:
                heapq.heappush(few, (len(persons[other]), other))
            self._task.progress(1 - len(few) / first)
        return joined

    @property
    def into(self) -> NDArray[np.int64]:
        """The class that each one has become part of."""
        into = self._parent
        while (into[into] != into).any():
            into = into[into]
        return into
