"""Loss of a release: exact, from the codes and the boxes they were put into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.codes.boxes import Solution
from kohort.codes.encode import Axis, Codes, LineAxis
from kohort.measures.base import Measure

RelativeTo: TypeAlias = Literal["original", "declared", "published"]
"""What the loss of a column is a share of: the values of the original, what the policy declares, or what a release
shows by itself."""


@dataclass(frozen=True)
class Loss:
    """Information loss, 0 (nothing generalized) to 1 (everything is `*`)."""

    total: float
    """Mean over records and columns, columns weighted as in the policy. With NCP this is GCP."""
    by_column: dict[str, float]
    """Mean over records, per column."""
    measure: str
    relative_to: dict[str, RelativeTo] = field(default_factory=dict)
    """What the loss of each column is a share of."""

    @classmethod
    def of_columns(
        cls,
        by_column: dict[str, float],
        weights: Mapping[str, float],
        measure: str,
        relative_to: Mapping[str, RelativeTo] | None = None,
    ) -> Loss:
        """Put the losses of the columns together; of the original, unless something else is said."""
        weight = sum(weights[name] for name in by_column)
        total = sum(weights[name] * loss for name, loss in by_column.items()) / weight
        shares: dict[str, RelativeTo] = {name: (relative_to or {}).get(name, "original") for name in by_column}
        return cls(total, by_column, measure, shares)


def against_bound(loss: float, bound: float) -> str:
    """How far a loss can be from the optimum, in words: wherever a loss and its lower bound are shown.

    Beyond twice the bound, the bound says nothing about the release that is worth reading.

    Examples
    --------
    >>> against_bound(0.12, 0.1)
    'at most 20.0 % above the optimum: no release of this table loses less than 0.1000'
    >>> against_bound(0.3, 0.1), against_bound(0.1, 0.1)
    ('no useful bound for this table', 'no release of this table loses less')
    """
    if loss <= bound * (1 + 1e-9):
        return "no release of this table loses less"
    if loss > 2 * bound:
        return "no useful bound for this table"
    return (
        f"at most {100 * (loss / bound - 1):.1f} % above the optimum: no release of this table loses less than "
        f"{bound:.4f}"
    )


def loss_of_boxes(
    measure: Measure, codes: Codes, lo: NDArray[np.int32], hi: NDArray[np.int32], suppressed: int = 0
) -> Loss:
    """Loss of publishing each record as its box; a suppressed record loses what `*` does.

    Parameters
    ----------
    lo, hi : int32[n, d]
        Box of each record that is published.
    suppressed : int
        Number of further records that are not.
    """
    n = len(lo) + suppressed
    by_column = {}
    for j, axis in enumerate(codes.axes):
        lost = cell_costs(measure, axis, lo[:, j], hi[:, j]).sum() + suppressed * star_cost(measure, axis)
        by_column[axis.name] = float(lost) / n
    return Loss.of_columns(by_column, {axis.name: axis.weight for axis in codes.axes}, measure.name)


def loss_of_solution(measure: Measure, codes: Codes, solution: Solution, suppressed: int = 0) -> Loss:
    """Loss of publishing what an algorithm found, further records being suppressed."""
    if solution.kept is None:
        return loss_of_boxes(measure, codes, solution.boxes.lo, solution.boxes.hi, suppressed)
    boxes, kept = solution.boxes.of(solution.kept), Codes(codes.array[solution.kept], codes.axes)
    return loss_of_boxes(measure, kept, boxes.lo, boxes.hi, suppressed + solution.suppressed)


def star_cost(measure: Measure, axis: Axis) -> float:
    """Cost of publishing a value as `*`, and of not publishing it at all."""
    return 1.0 if isinstance(axis, LineAxis) else float(measure.node_costs(axis.taxonomy)[0])


def cell_costs(measure: Measure, axis: Axis, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.float64]:
    """Cost of publishing a value as each box side: what is published decides, whatever the value was."""
    with_missing = hi == axis.missing_code
    lone = with_missing & (lo == hi)
    if isinstance(axis, LineAxis):
        last = max(len(axis.values) - 1, 0)
        costs = line_costs(measure, axis, np.minimum(lo, last), np.minimum(hi, last))
        return np.where(with_missing, np.where(lone, 0.0, 1.0), costs)
    return np.where(lone, 0.0, measure.node_costs(axis.taxonomy)[axis.nodes(lo, hi)])


def line_costs(measure: Measure, axis: LineAxis, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.float64]:
    """Cost of publishing numbers or dates as their box sides, none of which holds a missing value."""
    if axis.coarse is not None:
        costs = measure.interval_cost(axis, *axis.ends(lo, hi))
        return np.where(axis.coarse.is_everything(lo, hi), 1.0, costs)
    positions = measure.positions(axis) if len(axis.values) else np.zeros(1)
    return positions[hi] - positions[lo]
