"""Axes -> the distance of records of Zhang et al. (PAC, paper 003), equations 1 to 3 and 8."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Axis, LineAxis, TreeAxis
from kohort.measures.scale import ROOM, grid_of, units_of

if TYPE_CHECKING:
    from kohort.kernels.proximity import Metric


def metric_units(axes: Sequence[Axis], others: Sequence[Axis] = (), share: float = 0.0) -> list[float]:
    """Units of fixed point that each axis has at its largest distance, so that equal distances stay equal.

    Parameters
    ----------
    others : sequence of Axis
        Axes of a second distance that is compared with this one; their units come after those of the first.
    share : float
        What the weights of the others sum to; those of the axes sum to the rest of 1.
    """
    weights: list[Fraction] = []
    for some, part in ((axes, 1 - Fraction(str(share))), (others, Fraction(str(share)))):
        given = [Fraction(str(axis.weight)) for axis in some]
        weights += [part * weight / sum(given) for weight in given]
    both = [*axes, *others]
    grids = [grid_of(axis.positions) if isinstance(axis, LineAxis) else _longest(axis) for axis in both]
    # The largest distance is the sum of all weights, 1.
    return units_of(grids, weights, ROOM * len(both))


def _longest(axis: TreeAxis) -> int:
    """Edges of the longest path in a taxonomy."""
    return 2 * max(axis.taxonomy.height_edges, 1)


def compile_metric(axes: tuple[Axis, ...], units: Sequence[float] | None = None) -> Metric:
    """Compile the distance for the axes of a table.

    Numbers and dates are |a - b| / R apart, categories L / (2 H) for a path of L edges in a tree
    of height H, a missing value 1 from any other. Columns have the weights of the policy, made to
    sum to 1.

    Parameters
    ----------
    units : sequence of float, optional
        For integers: how many units each axis has at its largest distance. Otherwise floating point.
    """
    from kohort.kernels.proximity import Metric

    fixed = units is not None
    weight = sum(axis.weight for axis in axes)
    full = np.array([axis.weight / weight for axis in axes] if units is None else units, np.float64)
    position: list[NDArray[np.float64]] = []
    depth: list[NDArray[np.int32]] = []
    between: list[NDArray[np.int32]] = []
    steps: list[NDArray[np.float64]] = []
    for axis, most in zip(axes, full, strict=True):
        places, depths, gaps = np.zeros(axis.size), np.zeros(axis.size, np.int32), np.zeros(axis.size, np.int32)
        edges = np.empty(0)
        if isinstance(axis, LineAxis):
            places[: len(axis.values)] = most * axis.positions
        else:
            tree = axis.taxonomy
            leaves = np.arange(tree.n_leaves, dtype=np.int32)
            depths[: tree.n_leaves] = tree.depth[tree.leaf_node]
            gaps[: tree.n_leaves - 1] = tree.depth[tree.lca(leaves[:-1], leaves[1:])]
            longest = _longest(axis)
            edges = most * np.arange(longest + 1) / longest
        position.append(places)
        depth.append(depths)
        between.append(gaps)
        steps.append(edges)

    def number(values: NDArray[np.float64]) -> NDArray[Any]:
        return np.rint(values).astype(np.int32) if fixed else values

    return Metric(
        line=np.array([isinstance(axis, LineAxis) for axis in axes], bool),
        missing=np.array([axis.missing_code for axis in axes], np.int64),
        full=number(full),
        offset=np.cumsum([0] + [axis.size for axis in axes]).astype(np.int64),
        position=number(np.concatenate([np.empty(0), *position])),
        depth=np.concatenate([np.empty(0, np.int32), *depth]),
        between=np.concatenate([np.empty(0, np.int32), *between]),
        first_step=np.cumsum([0] + [len(edges) for edges in steps[:-1]]).astype(np.int64),
        steps=number(np.concatenate([np.empty(0), *steps])),
    )
