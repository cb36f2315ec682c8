"""Loss of a release: exact, from the codes and the boxes they were put into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.encode import Axis, Codes, LineAxis
from kohort.measures.base import Measure
from kohort.solution import Solution


@dataclass(frozen=True)
class Loss:
    """Information loss, 0 (nothing generalized) to 1 (everything is `*`)."""

    total: float
    """Mean over records and columns, columns weighted as in the policy. With NCP this is GCP."""
    by_column: dict[str, float]
    """Mean over records, per column."""
    measure: str

    @classmethod
    def of_columns(cls, by_column: dict[str, float], weights: dict[str, float], measure: str) -> Loss:
        """Put the losses of the columns together."""
        weight = sum(weights[name] for name in by_column)
        total = sum(weights[name] * loss for name, loss in by_column.items()) / weight
        return cls(total, by_column, measure)


def loss_of_boxes(
    measure: Measure, codes: Codes, lo: NDArray[np.int32], hi: NDArray[np.int32], suppressed: int = 0
) -> Loss:
    """Loss of publishing each record as its box; a suppressed record loses everything.

    Parameters
    ----------
    lo, hi : int32[n, d]
        Box of each record that is published.
    suppressed : int
        Number of further records that are not.
    """
    n = len(lo) + suppressed
    by_column = {
        axis.name: float((cell_costs(measure, axis, codes.array[:, j], lo[:, j], hi[:, j]).sum() + suppressed) / n)
        for j, axis in enumerate(codes.axes)
    }
    return Loss.of_columns(by_column, {axis.name: axis.weight for axis in codes.axes}, measure.name)


def loss_of_solution(measure: Measure, codes: Codes, solution: Solution, suppressed: int = 0) -> Loss:
    """Loss of publishing what an algorithm found, further records being suppressed."""
    if solution.kept is None:
        return loss_of_boxes(measure, codes, solution.boxes.lo, solution.boxes.hi, suppressed)
    boxes, kept = solution.boxes.of(solution.kept), Codes(codes.array[solution.kept], codes.axes)
    return loss_of_boxes(measure, kept, boxes.lo, boxes.hi, suppressed + solution.suppressed)


def cell_costs(
    measure: Measure, axis: Axis, codes: NDArray[np.int32], lo: NDArray[np.int32], hi: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Cost of publishing each code as its box side."""
    with_missing = hi == axis.missing_code
    lone = with_missing & (lo == hi)
    if isinstance(axis, LineAxis):
        last = max(len(axis.values) - 1, 0)
        costs = line_costs(measure, axis, np.minimum(lo, last), np.minimum(hi, last))
        return np.where(with_missing, np.where(lone, 0.0, 1.0), costs)
    last = axis.taxonomy.n_leaves - 1
    nodes = axis.nodes(lo, hi)
    costs = measure.cell_costs(axis.taxonomy, np.minimum(codes, last), nodes)
    whole = measure.node_costs(axis.taxonomy)[0]
    return np.where(lone, 0.0, np.where(with_missing, whole, costs))


def line_costs(measure: Measure, axis: LineAxis, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.float64]:
    """Cost of publishing numbers or dates as their box sides, none of which holds a missing value."""
    if axis.coarse is not None:
        costs = measure.interval_cost(axis, *axis.ends(lo, hi))
        return np.where(axis.coarse.is_everything(lo, hi), 1.0, costs)
    positions = measure.positions(axis) if len(axis.values) else np.zeros(1)
    return positions[hi] - positions[lo]
