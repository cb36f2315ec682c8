"""Costs for certificates: integers that never exceed the true cost, up to a credit per record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Codes, TreeAxis
from kohort.measures.base import Measure
from kohort.measures.compile import TABLE_LIMIT, all_pairs, range_maxima

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

UNIT = 2**30
"""Fixed point: the cost 1.0 in the column of the largest weight."""
LINE_CREDIT = 2
"""Two positions rounded to nearest put a width off by one at most; one more for the floating point."""


def certain_costs(measure: Measure, codes: Codes) -> tuple[Costs, NDArray[np.int64]]:
    """Cost of boxes, and the credit of each record.

    A record in a box costs at least what the box costs here, less the record's credit. Categories need none: the
    cost of a node is rounded down.
    """
    from kohort.kernels.costs import LINE, RANGES, TABLE, Costs

    largest = max(axis.weight for axis in codes.axes)
    credit = np.zeros(len(codes.array), np.int64)
    kinds, blocks, full = [], [], []
    for axis in codes.axes:
        unit = UNIT * (axis.weight / largest)
        if isinstance(axis, TreeAxis):
            nodes = _node_costs(measure, axis, unit)
            single, between = _neighbours(axis, nodes)
            table = axis.size <= TABLE_LIMIT
            kinds.append(TABLE if table else RANGES)
            blocks.append((all_pairs if table else range_maxima)(single, between))
            full.append(int(nodes[0]))
        else:
            kinds.append(LINE)
            positions = np.rint(measure.positions(axis) * unit).astype(np.int32)
            blocks.append(np.append(positions, np.int32(-1)) if axis.has_missing else positions)
            full.append(round(unit))
            credit += LINE_CREDIT
    costs = Costs(
        kind=np.array(kinds, np.int32),
        size=np.array([axis.size for axis in codes.axes], np.int64),
        missing=np.array([-1 if isinstance(axis, TreeAxis) else axis.missing_code for axis in codes.axes], np.int64),
        full=np.array(full, np.int32),
        offset=np.cumsum([0] + [block.size for block in blocks[:-1]]).astype(np.int64),
        flat=np.concatenate([block.ravel() for block in blocks]).astype(np.int32),
    )
    return costs, credit


def _node_costs(measure: Measure, axis: TreeAxis, unit: float) -> NDArray[np.int32]:
    """Cost of each node, rounded down."""
    # A cost is the product of two or three rounded numbers; a millionth of a unit covers that.
    return np.floor(np.maximum(measure.node_costs(axis.taxonomy) * unit - 1e-6, 0.0)).astype(np.int32)


def _neighbours(axis: TreeAxis, nodes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Cost of each single code, and of each pair of neighbouring codes."""
    tree = axis.taxonomy
    leaves = np.arange(tree.n_leaves, dtype=np.int32)
    single = nodes[tree.leaf_node]
    between = nodes[np.asarray(tree.lca(leaves[:-1], leaves[1:]))]
    if axis.has_missing:
        return np.append(single, np.int32(0)), np.append(between, nodes[0])
    return single, between
