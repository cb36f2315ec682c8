"""Codes and costs -> the form that local search works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs
    from kohort.kernels.search.spans import Spans

LINE_LIMIT = 256
"""A line with more codes than this has no table of all pairs of them."""


def spans_of(costs: Costs) -> tuple[Spans, list[int]]:
    """Costs in the form that needs no branches, and the axes in its order."""
    from kohort.kernels.costs import LINE, RANGES
    from kohort.kernels.search.spans import Spans, all_pairs

    d = len(costs.size)
    lines = [axis for axis in range(d) if costs.kind[axis] == LINE and costs.size[axis] > LINE_LIMIT]
    trees = [axis for axis in range(d) if costs.kind[axis] == RANGES]
    small = [axis for axis in range(d) if axis not in lines and axis not in trees]
    axes = small + lines + trees
    ends = np.append(costs.offset[1:], len(costs.flat))
    blocks = [
        *(all_pairs(costs, axis).ravel() for axis in small),
        *(np.empty(0, np.int32) for _ in lines),
        *(costs.flat[costs.offset[axis] : ends[axis]] for axis in trees),
    ]
    spans = Spans(
        flat=np.concatenate([*blocks, np.zeros(1, np.int32)]),
        offset=np.cumsum([0, *(block.size for block in blocks[:-1])]).astype(np.int32),
        size=costs.size[axes].astype(np.int32),
        full=costs.full[axes],
        tables=len(small),
        lines=len(small) + len(lines),
    )
    return spans, axes


def places_of(array: NDArray[np.int32], costs: Costs, spans: Spans, axes: list[int]) -> NDArray[np.int32]:
    """The records in the new order of axes, lines by position."""
    places = np.ascontiguousarray(array[:, axes])
    for index in range(spans.tables, spans.lines):
        axis = axes[index]
        start, size = costs.offset[axis], costs.size[axis]
        positions = costs.flat[start : start + size].copy()
        if costs.missing[axis] >= 0:
            positions[costs.missing[axis]] = 2 * costs.full[axis]
        places[:, index] = positions[places[:, index]]
    return places
