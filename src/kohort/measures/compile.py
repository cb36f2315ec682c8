"""Measure + axes -> the fixed-point cost tables that kernels work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Axis, LineAxis, TreeAxis
from kohort.measures.base import Measure
from kohort.measures.loss import line_costs
from kohort.measures.scale import exact_weights, grid_of, units_of

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

TABLE_LIMIT = 512
"""A taxonomy with more codes than this gets a range-maximum table instead of a full one."""


def compile_costs(measure: Measure, axes: tuple[Axis, ...]) -> Costs:
    """Compile a measure for the axes of a table.

    Weights are taken relative to the largest, and sums over all axes fit 32 bits. Costs are whole
    numbers wherever that is possible: see `kohort.measures.scale`.
    """
    from kohort.kernels.costs import LINE, RANGES, TABLE, Costs

    if not axes:  # a table of nothing but sets: there is no box to cost
        none, nothing = np.empty(0, np.int32), np.empty(0, np.int64)
        return Costs(kind=none, size=nothing, missing=nothing, full=none, offset=nothing, flat=none)
    largest = max(axis.weight for axis in axes)
    grids = [grid_of(_shares(measure, axis)) for axis in axes]
    units = units_of(grids, exact_weights([axis.weight for axis in axes], largest))
    kinds, blocks = [], []
    for axis, unit in zip(axes, units, strict=True):
        if _is_coarse_table(axis):
            kinds.append(TABLE)
            blocks.append(_coarse_pairs(measure, axis, unit))
        elif isinstance(axis, LineAxis):
            kinds.append(LINE)
            positions = _fixed(measure.positions(axis), unit)
            blocks.append(np.append(positions, np.int32(-1)) if axis.has_missing else positions)
        elif axis.size <= TABLE_LIMIT:
            kinds.append(TABLE)
            blocks.append(all_pairs(*_tree_costs(measure, axis, unit)))
        else:
            kinds.append(RANGES)
            blocks.append(range_maxima(*_tree_costs(measure, axis, unit)))
    return Costs(
        kind=np.array(kinds, np.int32),
        size=np.array([axis.size for axis in axes], np.int64),
        missing=np.array(
            [axis.missing_code if kind == LINE else -1 for kind, axis in zip(kinds, axes, strict=True)], np.int64
        ),
        full=np.array([round(unit) for unit in units], np.int32),
        offset=np.cumsum([0] + [block.size for block in blocks[:-1]]).astype(np.int64),
        flat=np.concatenate([block.ravel() for block in blocks]).astype(np.int32),
    )


def _shares(measure: Measure, axis: Axis) -> NDArray[np.float64]:
    """All costs of an axis, or what they are differences of, before they are put into fixed point."""
    if _is_coarse_table(axis):
        lo, hi = np.triu_indices(len(axis.values))
        return line_costs(measure, axis, lo.astype(np.int32), hi.astype(np.int32))
    return measure.positions(axis) if isinstance(axis, LineAxis) else measure.node_costs(axis.taxonomy)


def _is_coarse_table(axis: Axis) -> TypeGuard[LineAxis]:
    """Whether an axis is a line that is coarsened, and small enough for a table."""
    return isinstance(axis, LineAxis) and axis.coarse is not None and axis.size <= TABLE_LIMIT


def _fixed(costs: NDArray[np.float64], unit: float) -> NDArray[np.int32]:
    return np.rint(costs * unit).astype(np.int32)


def _tree_costs(measure: Measure, axis: TreeAxis, unit: float) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Cost of each single code, and of each pair of neighbouring codes."""
    tree = axis.taxonomy
    nodes = _fixed(measure.node_costs(tree), unit)
    single = nodes[tree.leaf_node]
    leaves = np.arange(tree.n_leaves, dtype=np.int32)
    between = nodes[np.asarray(tree.lca(leaves[:-1], leaves[1:]))]
    if axis.has_missing:
        single = np.append(single, np.int32(0))
        between = np.append(between, nodes[0])
    return single, between


def _coarse_pairs(measure: Measure, axis: LineAxis, unit: float) -> NDArray[np.int32]:
    """Cost of every (lo, hi) on a line that is coarsened."""
    values = len(axis.values)
    lo, hi = (side.astype(np.int32) for side in np.triu_indices(values))
    table = np.zeros((axis.size, axis.size), np.int32)
    table[lo, hi] = _fixed(line_costs(measure, axis, lo, hi), unit)
    # A narrow interval may be moved to where more values are; but no box may cost more than one around it.
    table = np.maximum.accumulate(np.maximum.accumulate(table, axis=1)[::-1], axis=0)[::-1]
    table = np.triu(table)
    if axis.has_missing:
        table[:values, values], table[values, values] = round(unit), 0
    return table


def all_pairs(single: NDArray[np.int32], between: NDArray[np.int32]) -> NDArray[np.int32]:
    """Cost of every (lo, hi): the largest cost between neighbours on the way."""
    size = len(single)
    table = np.zeros((size, size), np.int32)
    for lo in range(size):
        table[lo, lo] = single[lo]
        table[lo, lo + 1 :] = np.maximum.accumulate(between[lo:])
    return table


def range_maxima(single: NDArray[np.int32], between: NDArray[np.int32]) -> NDArray[np.int32]:
    """Row 0: single codes. Row r: largest cost between neighbours over 2**(r - 1) steps."""
    size = len(single)
    rows = [single]
    reach = np.append(between, np.int32(0))
    width = 1
    while width < size:
        rows.append(reach)
        ahead = np.append(reach[width:], np.zeros(width, np.int32))
        reach = np.maximum(reach, ahead)
        width *= 2
    return np.stack(rows)
