"""What every class of some records has to keep, and how classes are distinguished that must not become one."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes, boxes_of_labels, classes_of_boxes
from kohort.codes.encode import Codes
from kohort.privacy import Promise

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

WIDER = 400
"""Wider boxes that are looked at for one class that is published like another one."""


class Condition(Protocol):
    """What a class has to keep by its box and its size, such as a promise about a population."""

    def kept(self, boxes: Boxes, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which classes keep it, by the box and the number of records of each."""


@dataclass(frozen=True)
class Terms:
    """What every class of some records has to keep."""

    codes: Codes
    costs: Costs
    k: int
    promises: Sequence[Promise] = ()
    """About sensitive values of these records."""
    coverages: Sequence[Condition] = ()
    """About the boxes of classes, such as promises about a population."""

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.codes.array)

    @cached_property
    def monotone(self) -> bool:
        """Whether two classes that keep everything keep it as one."""
        return all(promise.model.monotone for promise in self.promises) and not self.coverages

    @cached_property
    def compares(self) -> bool:
        """Whether it matters to a class which other records are published."""
        return any(promise.model.compares for promise in self.promises)

    def among(self, kept: NDArray[np.bool_]) -> Terms:
        """The same for some of the records: the others are suppressed."""
        if kept.all():
            return self
        codes = Codes(np.ascontiguousarray(self.codes.array[kept]), self.codes.axes)
        return Terms(codes, self.costs, self.k, [one.among(kept) for one in self.promises], self.coverages)

    def broken(self, labels: NDArray[np.integer], boxes: Boxes | None = None) -> NDArray[np.bool_]:
        """Which classes, numbered 0, 1, 2, ..., break something.

        Parameters
        ----------
        boxes : Boxes, optional
            Of every record, as it is published; the smallest one of its class when absent.
        """
        broken = np.bincount(labels) < self.k
        for promise in self.promises:
            broken |= ~promise.kept(labels)
        if self.coverages:
            shown = boxes or boxes_of_labels(self.codes.array, labels.astype(np.int32))
            broken |= uncovered_classes(labels, shown, self.coverages)
        return broken

    def published(self, labels: NDArray[np.int32]) -> Boxes | None:
        """Boxes of the records with which every class, as a reader sees it, keeps everything; None if none are found.

        Two classes with the same box are one to whoever reads the release. Where they break something as one, the
        box of one of them is widened until nothing else is published like it.

        Parameters
        ----------
        labels : int32[records]
            Classes 0, 1, 2, ...
        """
        boxes = boxes_of_labels(self.codes.array, labels)
        seen = classes_of_boxes(self.codes.axes, boxes)
        broken = self.broken(seen, boxes)
        if broken.any() and not self.monotone:
            self._widen(labels, seen, broken, boxes)
            seen = classes_of_boxes(self.codes.axes, boxes)
            broken = self.broken(seen, boxes)
        return None if broken.any() else boxes

    def _widen(
        self, labels: NDArray[np.int32], seen: NDArray[np.int64], broken: NDArray[np.bool_], boxes: Boxes
    ) -> None:
        """Widen boxes of classes that are published like others, all but one of each."""
        _, first = np.unique(labels, return_index=True)
        taken = set(self._keys(boxes.lo[first], boxes.hi[first]))
        alone: set[int] = set()
        members = np.argsort(labels, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(labels)))
        for label, record in enumerate(first.tolist()):
            group = int(seen[record])
            if not broken[group] or group not in alone:
                alone.add(group)
                continue
            wider = self._wider(boxes.lo[record], boxes.hi[record], taken)
            if wider is not None:
                mine = members[starts[label] : starts[label + 1]]
                boxes.lo[mine], boxes.hi[mine] = wider
                taken.update(self._keys(wider[0][None], wider[1][None]))

    def _wider(
        self, lo: NDArray[np.int32], hi: NDArray[np.int32], taken: set[tuple[int, ...]]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """The cheapest box around a box that is published like no other; None if none is found soon."""
        from kohort.kernels.costs import box_cost

        last = self.costs.size - 1
        heap = [(0, tuple(lo.tolist()), tuple(hi.tolist()))]
        looked = set(heap)
        for _ in range(WIDER):
            if not heap:
                return None
            _, low, high = heapq.heappop(heap)
            now = np.array(low, np.int32), np.array(high, np.int32)
            if self._keys(now[0][None], now[1][None])[0] not in taken:
                return now
            for axis in range(len(low)):
                for more in (-1, 1):
                    side = list(high if more > 0 else low)
                    side[axis] += more
                    if not 0 <= side[axis] <= last[axis]:
                        continue
                    ends = (low, tuple(side)) if more > 0 else (tuple(side), high)
                    cost = int(box_cost(self.costs, np.array(ends[0], np.int32), np.array(ends[1], np.int32)))
                    if (cost, *ends) not in looked:
                        looked.add((cost, *ends))
                        heapq.heappush(heap, (cost, *ends))
        return None

    def _keys(self, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> list[tuple[int, ...]]:
        """What each box is published as."""
        keys = np.column_stack([axis.keys(lo[:, j], hi[:, j]) for j, axis in enumerate(self.codes.axes)])
        return [tuple(row) for row in keys.tolist()]


def uncovered_classes(labels: NDArray[np.integer], boxes: Boxes, coverages: Sequence[Condition]) -> NDArray[np.bool_]:
    """Which classes, numbered 0, 1, 2, ..., break a condition on their boxes.

    Parameters
    ----------
    boxes : Boxes
        Of every record, as it is published; those of a class are published alike.
    """
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    broken = np.zeros(len(first), bool)
    for coverage in coverages:
        broken |= ~coverage.kept(Boxes(boxes.lo[first], boxes.hi[first]), sizes)
    return broken
