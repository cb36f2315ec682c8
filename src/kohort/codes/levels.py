"""Full-domain generalization: the levels of each axis, and the release at a node of levels.

A node has one level per axis. At level 0 values are as they are, at the top level all are one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes, Solution
from kohort.codes.encode import Axis, Codes, LineAxis, TreeAxis, as_numbers
from kohort.policy.hierarchy.builders import DATE_LEVELS

if TYPE_CHECKING:
    from kohort.kernels.frequency import Frequencies

DAYS = {"month": 30, "quarter": 91, "year": 365, "decade": 3652}
"""About how long the periods of dates are."""

Node = tuple[int, ...]
"""A level for each axis."""

FINEST = 32
"""The finest bins of numbers are at least this part of the range wide."""


@dataclass(frozen=True)
class Ladder:
    """The levels of one axis. Spans of a level are unions of spans of the level below."""

    axis: Axis
    groups: tuple[NDArray[np.int32], ...]
    """For each level, the number of the span of each code; numbers ascend with the codes."""

    @property
    def top(self) -> int:
        """The level at which all values are one; 0 if there is only one value."""
        return len(self.groups) - 1

    def step(self, low: int, high: int) -> NDArray[np.int32]:
        """For each span of a level, its span on a higher level."""
        fine, coarse = self.groups[low], self.groups[high]
        steps = np.empty(int(fine[-1]) + 1, np.int32)
        steps[fine] = coarse
        return steps

    def spans(self, level: int, occurring: NDArray[np.int32] | None = None) -> Boxes:
        """The span of each code, from its smallest to its largest code.

        Parameters
        ----------
        occurring : array of int32, optional
            Different codes, ascending, that occur. A span of numbers or dates then ends with the
            outermost of these; that of any code without one means nothing.
        """
        group = self.groups[level]
        if occurring is None or isinstance(self.axis, TreeAxis):
            occurring = np.arange(len(group), dtype=np.int32)
        among = group[occurring]
        first = occurring[np.minimum(np.searchsorted(among, group, side="left"), len(among) - 1)]
        last = occurring[np.maximum(np.searchsorted(among, group, side="right") - 1, 0)]
        return Boxes(first, last)


def ladder_of(axis: Axis) -> Ladder:
    """The levels of an axis; one that changes nothing against the level below is left out.

    A missing value is a span of its own up to the top level, where it is with all others.

    Examples
    --------
    >>> ages = LineAxis("age", 1.0, pl.Series([17, 19, 21, 38, 90]), 17, 90, has_missing=False)
    >>> [level.tolist() for level in ladder_of(ages).groups]
    [[0, 1, 2, 3, 4], [0, 0, 1, 2, 3], [0, 0, 1, 1, 2], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    """
    levels = [np.arange(axis.size, dtype=np.int32)]
    for marks in _tree_marks(axis) if isinstance(axis, TreeAxis) else _line_marks(axis):
        group = _runs(marks)
        levels.append(np.append(group, group[-1] + 1) if axis.has_missing else group)
    levels.append(np.zeros(axis.size, np.int32))
    groups = [level for below, level in zip(levels[:1] + levels, levels, strict=False) if level[-1] < below[-1]]
    return Ladder(axis, (levels[0], *groups))


def width_of(ladder: Ladder, level: int) -> float | None:
    """How wide the bins of a level of numbers are, or about how many days its periods have; None for categories.

    Examples
    --------
    >>> ages = LineAxis("age", 1.0, pl.Series([17, 19, 21, 38, 90]), 17, 90, has_missing=False)
    >>> ladder = ladder_of(ages)
    >>> [width_of(ladder, level) for level in range(1, ladder.top)]
    [5.0, 20.0, 40.0]
    """
    axis = ladder.axis
    if isinstance(axis, TreeAxis) or len(axis.values) == 0:
        return None
    if axis.values.dtype == pl.Date:
        widths = [float(days) for days in DAYS.values()]
    else:
        finest, levels = bins(axis.low, axis.high, integers=axis.values.dtype.is_integer())
        widths = [finest * 2**number for number in range(levels)]
    wanted = ladder.groups[level][: len(axis.values)]
    fits = (width for width, marks in zip(widths, _line_marks(axis), strict=True) if (_runs(marks) == wanted).all())
    return next(fits, None)


def _runs(marks: NDArray[np.generic]) -> NDArray[np.int32]:
    """Number the runs of equal marks, from 0."""
    return np.cumsum(np.append(False, marks[1:] != marks[:-1]), dtype=np.int32)


def _tree_marks(axis: TreeAxis) -> list[NDArray[np.generic]]:
    """For each level below the root, the node above each leaf."""
    tree = axis.taxonomy
    leaves = np.arange(tree.n_leaves)
    return [np.asarray(tree.ancestor_at(leaves, level)) for level in range(1, tree.height_edges)]


def _line_marks(axis: LineAxis) -> list[NDArray[np.generic]]:
    """For each level, the period or bin of each value."""
    if len(axis.values) == 0:
        return []
    if axis.values.dtype == pl.Date:
        days = axis.values.to_list()
        return [np.array([period(day) for day in days]) for period in DATE_LEVELS.values()]
    finest, levels = bins(axis.low, axis.high, integers=axis.values.dtype.is_integer())
    # Rounded first: in binary, 0.3 lies below the third multiple of 0.1.
    places = np.floor(np.round(as_numbers(axis.values) / finest, 9))
    return [np.floor(places / 2**level) for level in range(levels)]


def bins(low: float, high: float, *, integers: bool) -> tuple[float, int]:
    """Width of the finest bins of a range, and how many times they can double, itself included, within the range.

    The width is 1, 2 or 5 times a power of ten: the smallest that is at least 1/32 of the range. One of the
    bins begins at 0. So the borders depend on the data by the range alone, or not at all if a domain is declared.

    Examples
    --------
    >>> bins(17, 90, integers=True)  # 5, 10, 20, 40
    (5.0, 4)
    >>> bins(0, 9, integers=True)  # 1, 2, 4, 8
    (1.0, 4)
    """
    reach = high - low
    if not 0 < reach < math.inf:
        return 1.0, 0
    exponent = math.floor(math.log10(reach / FINEST))
    wide_enough = (
        width
        for power in (exponent, exponent + 1)
        for digit in (1, 2, 5)
        if (width := float(f"{digit}e{power}")) >= reach / FINEST
    )
    width = next(wide_enough)
    if integers:
        width = max(width, 1.0)
    return width, max(0, math.ceil(math.log2(reach / width)))


def frequencies(codes: Codes) -> Frequencies:
    """The frequency set of the table as it is."""
    from kohort.kernels.frequency import Frequencies

    return Frequencies(codes.distinct.codes, codes.distinct.counts)


def in_small_classes(codes: Codes, ladders: Sequence[Ladder], node: Node, k: int) -> tuple[NDArray[np.bool_], int]:
    """Which distinct rows lie in classes of fewer than k records at a node; and the number of other classes."""
    from kohort.kernels.frequency import roll_up

    maps = [ladder.groups[level] for ladder, level in zip(ladders, node, strict=True)]
    classes, labels = roll_up(frequencies(codes), maps)
    return classes.counts[labels] < k, int((classes.counts >= k).sum())


def solution_at(codes: Codes, ladders: Sequence[Ladder], node: Node, k: int) -> Solution:
    """The release at a node: records in classes of fewer than k are suppressed.

    An interval runs from the smallest to the largest value in its bin that is published, so nothing of a
    suppressed record is shown.
    """
    rows = codes.distinct
    small, clusters = in_small_classes(codes, ladders, node, k)
    kept = rows.by_row(~small)
    some = rows.codes[~small]
    spans = [ladder.spans(node[j], np.unique(some[:, j])) for j, ladder in enumerate(ladders)]
    return Solution.of_levels(
        codes,
        spans,
        clusters=clusters,
        kept=None if kept.all() else kept,
        facts={"levels": {ladder.axis.name: f"{node[j]} of {ladder.top}" for j, ladder in enumerate(ladders)}},
    )
