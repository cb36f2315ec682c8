"""MDAV: maximum distance to the average vector, on mixed data.

Domingo-Ferrer, Torra: Ordinal, continuous and heterogeneous k-anonymity through microaggregation,
Data Mining and Knowledge Discovery 11, 2005.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.algorithms.cb import as_places
from kohort.codes.boxes import Solution
from kohort.codes.encode import LineAxis, as_numbers
from kohort.errors import PolicyError
from kohort.measures.sse import within_share
from kohort.search.task import Task

STEP = 64
"""Classes between two words of progress."""


@ALGORITHMS.register("mdav")
@dataclass(frozen=True)
class Mdav(Clusterer):
    """Take the record furthest from the centre with its k - 1 nearest, then the same on the far side.

    Records are taken in lexicographic order of their codes, so the order of the input does not
    matter, and ties go to the first. Nothing is random.

    Notes
    -----
    Time O(d m n / k) for m distinct rows of n records, memory O(d m + n). Class sizes are k, and
    k to 2k - 1 for the last one.
    """

    distance: Literal["cost", "euclidean"] = "cost"
    """How far two records are apart: the cost of the box around both, in the policy's measure; or the squared Euclidean
    distance of z-scores, as in the original, for numbers and dates without missing values only."""

    summary = "the furthest record from the centre takes its k - 1 nearest"
    paper = "Domingo-Ferrer, Torra, DMKD 2005"
    guarantee = "k-anonymity; sizes k, the last one k..2k-1"
    complexity = "O(d n^2 / k)"

    @override
    def solve(self, task: Task) -> Solution:
        labels = self.cluster(task)
        share = within_share(task.codes, labels)
        return Solution.of_labels(task.codes, labels, None if share is None else {"sse_over_sst": share})

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        rows, k = task.codes.distinct, task.k
        n = len(rows.order)
        space = _CostSpace(task) if self.distance == "cost" else _EuclideanSpace(task)
        labels = np.empty(n, np.int32)
        remains = n
        done = 0
        while remains >= 2 * k:
            seed = space.furthest_from_centre()
            _label(labels, space.take(seed, k), rows.first, done)
            done += 1
            remains -= k
            # As long as both of a pair leave k for the last class.
            if remains >= 2 * k:
                _label(labels, space.take(space.furthest_from_last(), k), rows.first, done)
                done += 1
                remains -= k
            space.tidy()
            if done % STEP < 2:
                task.progress(1 - remains / n)
        _label(labels, space.rest(), rows.first, done)
        task.progress(1.0)
        return rows.by_record(labels)


Pieces = list[tuple[int, int, int]]
"""(row, copies of it that were taken before, copies that are taken)."""


def _label(labels: NDArray[np.int32], pieces: Pieces, first: NDArray[np.int64], label: int) -> None:
    """Label the records of some pieces, in canonical order."""
    for row, before, copies in pieces:
        begin = first[row] + before
        labels[begin : begin + copies] = label


class _Space(ABC):
    """The records that are left, as distinct rows with numbers of copies, and their distances."""

    def __init__(self, task: Task, columns: NDArray[Any], distance: type) -> None:
        rows = task.codes.distinct
        self.k = task.k
        self.columns = np.ascontiguousarray(columns)
        self.numbers = np.arange(len(rows.counts))
        self.counts = rows.counts
        self.left = rows.counts.astype(np.int64)
        self.distance: NDArray[Any] = np.empty(len(rows.counts), distance)
        self.found = np.empty((2, task.k), np.int64)

    @abstractmethod
    def measure_from_centre(self) -> None:
        """Distance of all rows from the centre of the records that are left."""

    @abstractmethod
    def measure_from(self, index: int) -> None:
        """Distance of all rows from one of them."""

    @abstractmethod
    def forget(self, index: int, copies: int) -> None:
        """Take note of records that leave."""

    def furthest_from_centre(self) -> int:
        """The row furthest from the centre."""
        self.measure_from_centre()
        return self.furthest_from_last()

    def furthest_from_last(self) -> int:
        """The row furthest from where distances were measured last."""
        from kohort.kernels.algorithms.mdav import furthest

        return int(furthest(self.distance, self.left))

    def take(self, seed: int, k: int) -> Pieces:
        """Remove a record and its k - 1 nearest."""
        from kohort.kernels.algorithms.mdav import nearest

        self.measure_from(seed)
        pieces = [self._remove(seed, 1)]
        if k > 1:
            found, copies = self.found
            kept = nearest(self.distance, self.left, k - 1, found, copies)
            pieces += [self._remove(int(found[i]), int(copies[i])) for i in range(kept)]
        return pieces

    def rest(self) -> Pieces:
        """Remove all records."""
        return [self._remove(int(index), int(self.left[index])) for index in np.flatnonzero(self.left)]

    def _remove(self, index: int, copies: int) -> tuple[int, int, int]:
        row = int(self.numbers[index])
        before = int(self.counts[row] - self.left[index])
        self.left[index] -= copies
        self.forget(index, copies)
        return row, before, copies

    def tidy(self) -> None:
        """Drop rows without records now and then, so that they are not looked at again."""
        keep = self.left > 0
        if 8 * np.count_nonzero(keep) < 7 * len(keep):
            self.columns = np.ascontiguousarray(self.columns[:, keep])
            self.numbers, self.left = self.numbers[keep], self.left[keep]
            self.distance = self.distance[: len(self.left)]


class _CostSpace(_Space):
    """The cost of the box around two records."""

    def __init__(self, task: Task) -> None:
        rows, self.costs = task.codes.distinct, task.costs
        super().__init__(task, rows.codes.T, np.int64)
        self.places = as_places(task, rows.codes)
        sizes = self.costs.size
        self.first = np.cumsum(sizes) - sizes
        self.of_code = np.concatenate(
            [
                np.bincount(column, weights=rows.counts, minlength=size)
                for column, size in zip(rows.codes.T, sizes, strict=True)
            ]
        ).astype(np.int64)
        self.point = np.empty(len(sizes), np.int32)
        self.side = np.empty(int(sizes.max()), np.int32)

    def measure_from_centre(self) -> None:
        from kohort.kernels.algorithms.mdav import centre_places

        centre_places(self.costs, self.first, self.of_code, int(self.left.sum()), self.point)
        self._scan()

    def measure_from(self, index: int) -> None:
        self.point[:] = self.places[self.numbers[index]]
        self._scan()

    def forget(self, index: int, copies: int) -> None:
        self.of_code[self.first + self.columns[:, index]] -= copies

    def _scan(self) -> None:
        from kohort.kernels.algorithms.mdav import scan_costs

        scan_costs(self.costs, self.columns, self.point, self.side, self.distance)


class _EuclideanSpace(_Space):
    """The squared Euclidean distance of z-scores; weights multiply the squares."""

    def __init__(self, task: Task) -> None:
        rows = task.codes.distinct
        numbers = []
        faults = []
        for axis in task.codes.axes:
            if not isinstance(axis, LineAxis):
                faults.append(f"column {axis.name!r}: it has categories")
            elif axis.has_missing:
                faults.append(f"column {axis.name!r}: it has missing values")
            else:
                numbers.append(as_numbers(axis.values))
        if faults:
            hint = "the Euclidean distance of 'mdav' needs numbers or dates; choose distance = \"cost\""
            raise PolicyError(*(f"{fault}, and {hint}." for fault in faults))
        columns = np.empty((len(numbers), len(rows.codes)))
        for index, axis in enumerate(task.codes.axes):
            values = numbers[index][rows.codes[:, index]]
            values = values - np.average(values, weights=rows.counts)
            deviation = np.sqrt(np.average(values**2, weights=rows.counts))
            columns[index] = np.sqrt(axis.weight) * values / (deviation if deviation > 0 else 1.0)
        super().__init__(task, columns, np.float64)
        self.point = np.empty(len(numbers))

    def measure_from_centre(self) -> None:
        from kohort.kernels.algorithms.mdav import centre_numbers

        centre_numbers(self.columns, self.left, self.point)
        self._scan()

    def measure_from(self, index: int) -> None:
        self.point[:] = self.columns[:, index]
        self._scan()

    def forget(self, index: int, copies: int) -> None:
        """Nothing to note: the centre is computed anew each time, so errors do not add up."""

    def _scan(self) -> None:
        from kohort.kernels.algorithms.mdav import scan_squares

        scan_squares(self.columns, self.point, self.distance)
