"""What-ifs: the loss if a column were left out, coarser, or counted less; each is one quick clustering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from kohort.algorithms import ALGORITHMS, Algorithm
from kohort.codes.boxes import Boxes
from kohort.codes.encode import Codes
from kohort.codes.levels import Ladder, ladder_of, width_of
from kohort.measures.compile import compile_costs
from kohort.measures.loss import Loss, cell_costs, loss_of_boxes
from kohort.policy.faults import toml_key
from kohort.search.task import Task

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

WIDE = 16
"""A table of more columns is clustered by a quicker algorithm."""
MOST_GROUPS = 1024
"""Levels of more groups are not tried: the cost of each pair of groups is put into a table."""
LIGHTER = 4
"""A column that counts less has so small a part of its weight."""


def tried_with(columns: int) -> Algorithm:
    """The algorithm of all what-ifs on a table: quick, and the same for both sides of a difference."""
    if columns <= WIDE:
        return ALGORITHMS.make("fast", {})
    return ALGORITHMS.make("mondrian", {"mode": "relaxed", "categories": "order"})


@dataclass(frozen=True)
class Line:
    """What to paste into the policy."""

    section: str
    """Where it belongs."""
    text: str
    instead: bool = False
    """Whether it takes the place of all that the section has."""

    @classmethod
    def of(cls, column: str, text: str, *, instead: bool = False) -> Self:
        """A line for a column."""
        return cls(f"[columns.{toml_key(column)}]", text, instead)

    def __str__(self) -> str:
        return f"{self.section} {'nothing but ' if self.instead else ''}{self.text}"


def dropped_line(column: str) -> Line:
    """The one that leaves a column out."""
    return Line.of(column, 'role = "identifier"', instead=True)


def _coarser_line(ladder: Ladder, level: int) -> Line | None:
    width = width_of(ladder, level)
    return None if width is None else Line.of(ladder.axis.name, f"snap = {width:.10g}")


@dataclass(frozen=True)
class Dropped:
    """What happens to the loss when a column is not published."""

    others: float
    """Loss of the other columns. It is the total loss, too, if the dropped column is not counted."""
    others_saved: float
    """The part of their loss that the other columns are spared; below 0 if they lose more."""
    total: float
    """Loss of all columns, the dropped one counted as wholly lost."""
    line: Line


@dataclass(frozen=True)
class Coarser:
    """What happens to the loss when a column is published in coarser terms from the start."""

    level: int
    """Level of the ladder: 0 is the values as they are, `top` is one group of all."""
    top: int
    column: float
    """Loss of the column itself."""
    others: float
    """Loss of the other columns."""
    others_saved: float
    """The part of their loss that the other columns are spared; below 0 if they lose more."""
    total: float
    """Loss of all columns."""
    line: Line | None
    """None for categories: no line of a policy keeps them from being published as they are."""


@dataclass(frozen=True)
class Lighter:
    """What happens to the loss when a column counts less in the search for classes."""

    weight: float
    column: float
    """Loss of the column itself."""
    others: float
    """Loss of the other columns."""
    others_saved: float
    """The part of their loss that the other columns are spared; below 0 if they lose more."""
    total: float
    """Loss of all columns, by the weights that the policy has now."""
    line: Line


class Trial:
    """What-ifs on one table: each is one quick clustering from the same seed."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task = task
        self.seed = seed
        self.algorithm = tried_with(len(task.codes.axes))
        self.codes = task.codes
        self.weights = {axis.name: axis.weight for axis in task.codes.axes}
        self.loss = self._loss(self._boxes(task.codes, task.costs), task.codes)

    def others(self, j: int) -> float:
        """Loss of all columns but one, as they are."""
        return self._others(self.loss, j)

    def has_others(self, j: int) -> bool:
        """Whether the loss of the other columns means anything."""
        return any(axis.weight > 0 for i, axis in enumerate(self.codes.axes) if i != j)

    def dropped(self, j: int) -> Dropped:
        """Cluster without a column."""
        axes = self.codes.axes[:j] + self.codes.axes[j + 1 :]
        rest = Codes(np.ascontiguousarray(np.delete(self.codes.array, j, axis=1)), axes)
        others = self._loss(self._boxes(rest, compile_costs(self.task.measure, axes)), rest)
        lost = others.by_column | {self.codes.axes[j].name: 1.0}
        total = Loss.of_columns(lost, self.weights, others.measure).total
        return Dropped(others.total, saved(self.others(j), others.total), total, dropped_line(self.codes.axes[j].name))

    def lighter(self, j: int) -> Lighter:
        """Cluster with a column that counts less; the loss counts it as before."""
        axis = self.codes.axes[j]
        weight = float(f"{axis.weight / LIGHTER:.4g}")
        axes = (*self.codes.axes[:j], replace(axis, weight=weight), *self.codes.axes[j + 1 :])
        loss = self._loss(self._boxes(self.codes, compile_costs(self.task.measure, axes)), self.codes)
        others = self._others(loss, j)
        spared = saved(self.others(j), others)
        return Lighter(
            weight, loss.by_column[axis.name], others, spared, loss.total, Line.of(axis.name, f"weight = {weight:g}")
        )

    def coarser(self, j: int, most: int) -> Iterator[Coarser]:
        """Cluster with a column at some levels of its ladder; the top level would be no column at all."""
        ladder = ladder_of(self.codes.axes[j])
        levels = np.arange(1, ladder.top)
        if len(levels) > most:
            levels = levels[np.linspace(0, len(levels) - 1, most + 2).round().astype(int)[1:-1]]
        for level in levels.tolist():
            group = ladder.groups[level]
            if group[-1] < MOST_GROUPS:
                array = self.codes.array.copy()
                array[:, j] = group[array[:, j]]
                recoded = Codes(array, self.codes.axes)
                boxes = self._boxes(recoded, self._costs_at(j, ladder, level))
                # From groups back to codes: a group is published as a whole.
                first, last = _ends(ladder, level)
                boxes.lo[:, j], boxes.hi[:, j] = first[boxes.lo[:, j]], last[boxes.hi[:, j]]
                loss = self._loss(boxes, self.codes)
                others = self._others(loss, j)
                yield Coarser(
                    level=level,
                    top=ladder.top,
                    column=loss.by_column[ladder.axis.name],
                    others=others,
                    others_saved=saved(self.others(j), others),
                    total=loss.total,
                    line=_coarser_line(ladder, level),
                )

    def _boxes(self, codes: Codes, costs: Costs) -> Boxes:
        task = replace(
            self.task,
            codes=codes,
            costs=costs,
            rng=np.random.default_rng(self.seed),
            progress=lambda share: None,
            sensitive=None,
            promises=(),
            coverages=(),
            allowance=0,
        )
        return self.algorithm.solve(task).boxes

    def _loss(self, boxes: Boxes, codes: Codes) -> Loss:
        return loss_of_boxes(self.task.measure, codes, boxes.lo, boxes.hi)

    def _others(self, loss: Loss, j: int) -> float:
        name = self.codes.axes[j].name
        others = {other: share for other, share in loss.by_column.items() if other != name}
        return Loss.of_columns(others, self.weights, loss.measure).total

    def _costs_at(self, j: int, ladder: Ladder, level: int) -> Costs:
        """The costs of boxes, those of one axis for the groups of a level instead of its codes."""
        from kohort.kernels.costs import TABLE

        costs = self.task.costs
        first, last = _ends(ladder, level)
        lo, hi = np.triu_indices(len(first))
        table = np.zeros((len(first), len(first)), np.int32)
        spans = cell_costs(self.task.measure, ladder.axis, first[lo], last[hi])
        table[lo, hi] = np.rint(spans * costs.full[j])

        def changed(numbers: NDArray[Any], number: int) -> NDArray[Any]:
            numbers = numbers.copy()
            numbers[j] = number
            return numbers

        return costs._replace(
            kind=changed(costs.kind, TABLE),
            size=changed(costs.size, len(first)),
            missing=changed(costs.missing, -1),
            offset=changed(costs.offset, len(costs.flat)),
            flat=np.append(costs.flat, table.ravel()),
        )


def _ends(ladder: Ladder, level: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """First and last code of each group of a level."""
    spans = ladder.spans(level)
    return np.unique(spans.lo), np.unique(spans.hi)


def saved(before: float, after: float) -> float:
    """The part of a loss that is spared."""
    return 1 - after / before if before > 0 else 0.0
