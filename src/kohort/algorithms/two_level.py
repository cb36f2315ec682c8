"""Two-level k-anonymization.

Vaghela: K-anonymization approach for privacy preserving in data mining (paper 001), which adds the
second level to the sub-tables of Bhaladhare and Jinwala, JISE 32 (2016).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.algorithms.joins import alone, join_classes, values_left
from kohort.algorithms.systematic import Systematic
from kohort.codes.boxes import Boxes, Solution, boxes_of_labels, classes_of_boxes
from kohort.codes.encode import Codes
from kohort.codes.publish import InTables, PublishedTable, shuffled
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_boxes
from kohort.policy import Policy
from kohort.search.task import Task

WORK = 500_000
"""Records whose clusters one call of the kernel divides: often enough for progress and for Ctrl-C."""
LEVEL_1 = 0.9
"""Share of the progress that the first level has; the second looks at few boxes for each record."""


@ALGORITHMS.register("two-level")
@dataclass(frozen=True)
class TwoLevel(Clusterer):
    """Cluster the records systematically, then divide only the clusters that lose most.

    The horizontal form publishes one table: the first level makes clusters of 2k records, the
    second divides those of high loss into parts of k or more. So k holds on all quasi-identifiers.

    The vertical form is that of the paper. Each quasi-identifier, or each group of them, is
    published with the sensitive columns in a table of its own. The first level makes clusters of
    k records on these columns alone, the second divides those of high loss into parts of k / 2.
    **k does not hold on all quasi-identifiers together**, so the form has to be accepted
    explicitly; its facts say what an outsider can do with the tables.

    Notes
    -----
    Time O(m * n / k) for m distinct rows of n records, memory O(m * d + n); that of systematic
    clustering, once for each table.

    Examples
    --------
    >>> import polars as pl, kohort
    >>> ages = pl.DataFrame({"age": [30, 31, 32, 33, 60, 61, 88, 89]})
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], algorithm="two-level", seed=1)
    >>> sorted(set(kohort.anonymize(ages, policy).table["age"]))
    ['[30 - 33]', '[60 - 61]', '[88 - 89]']
    """

    form: Literal["horizontal", "vertical"] = "horizontal"
    """One table that keeps k, or the tables of the paper that do not."""
    split: Literal["above-mean", "all", "none"] = "above-mean"
    """Divide clusters that lose more than the mean of all clusters, or all that lose anything. "none", of the vertical
    form, leaves the second level out: the sub-tables of Bhaladhare and Jinwala."""
    grouping: Literal["equal", "unequal"] = "equal"
    """Vertical form: one quasi-identifier in each table, or `groups`."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Quasi-identifiers of each table, for unequal grouping: each stands in one group."""
    accept_broken_guarantee: bool = False
    """Must be true for the vertical form."""

    summary = "systematic clusters of 2k; those of high loss are divided into parts of k or more"
    paper = "Vaghela (001)"
    guarantee = "k-anonymity; sizes k..4k-1 (form = vertical: none on all quasi-identifiers together)"
    complexity = "O(n^2 / k)"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "groups", _checked_groups(self.groups))
        if self.form == "vertical" and not self.accept_broken_guarantee:
            raise ValueError(
                "form = 'vertical' publishes sub-tables that do not keep k on all quasi-identifiers together, and "
                "their sensitive values can be intersected; use form = 'horizontal', or set "
                "accept_broken_guarantee = true"
            )
        if self.form == "horizontal" and self.split == "none":
            raise ValueError(
                "split = 'none' is for form = 'vertical'; for one table without a second level, "
                "use the algorithm 'systematic'"
            )
        unequal = self.form == "vertical" and self.grouping == "unequal"
        if unequal != bool(self.groups):
            raise ValueError(
                "'groups' and grouping = 'unequal' of the vertical form belong together; give both or none"
            )

    # -- before any work -----------------------------------------------------------------------

    @override
    def refuses(self, policy: Policy) -> list[str]:
        return [*super().refuses(policy), *(self._refuses_tables(policy) if self.form == "vertical" else [])]

    def _refuses_tables(self, policy: Policy) -> list[str]:
        """Why the sub-tables cannot be published: mostly, what would link them row by row."""
        faults = _misgrouped(self.groups, policy.quasi_identifiers)
        if not faults:
            faults += [
                f"every quasi-identifier of group {number} has weight 0; give one a weight above 0."
                for number, group in enumerate(self._groups(policy), 1)
                if not any(policy.columns[name].weight for name in group)
            ]
        if policy.having_role("insensitive"):
            named = ", ".join(map(repr, policy.having_role("insensitive")))
            faults.append(
                f"form = 'vertical' has no table for insensitive columns ({named}), which would link the sub-tables; "
                "make them identifiers, which drops them."
            )
        if policy.output.order == "kept":
            faults.append("form = 'vertical' with order = 'kept' would link the sub-tables; let the order be shuffled.")
        if policy.output.suppressed == "starred":
            faults.append("form = 'vertical' cannot show suppressed records; set suppressed = 'withheld'.")
        if policy.output.bounds:
            faults.append("form = 'vertical' cannot add bounds; set bounds = false.")
        return faults

    def wants_sensitive(self, policy: Policy) -> bool:
        """Whether the sensitive columns are to be encoded: to report what joining the tables discloses."""
        return self.form == "vertical" and bool(policy.having_role("sensitive"))

    @override
    def tables(self, policy: Policy) -> tuple[str, ...]:
        return tuple(str(number) for number, _ in enumerate(self._groups(policy), 1)) if self.form == "vertical" else ()

    def _groups(self, policy: Policy) -> tuple[tuple[str, ...], ...]:
        return self.groups or tuple((name,) for name in policy.quasi_identifiers)

    # -- the work ------------------------------------------------------------------------------

    @override
    def solve(self, task: Task) -> Solution:
        if self.form == "vertical":
            return self._in_tables(task)
        levels = self._one_table(task)
        everything = [tuple(range(len(task.codes.axes)))]
        return Solution.of_labels(task.codes, levels.fine, _of_levels(task, everything, [levels]))

    def cluster(self, task: Task) -> NDArray[np.int32]:
        """Label every record with its cluster, in the horizontal form."""
        return self._one_table(task).fine

    def _one_table(self, task: Task) -> Levels:
        return two_levels(task, 2 * task.k, task.k, self.split)

    def _in_tables(self, task: Task) -> Solution:
        """The paper's form: a table for each group of quasi-identifiers."""
        place = {axis.name: index for index, axis in enumerate(task.codes.axes)}
        groups = [tuple(map(place.__getitem__, group)) for group in self.groups] or [(j,) for j in place.values()]
        half = max(2, task.k // 2)
        found = [
            two_levels(_only(task, axes, number, len(groups)), task.k, half, self.split)
            for number, axes in enumerate(groups)
        ]
        boxes = _put_together(task.codes, groups, [levels.fine for levels in found])
        return InSubTables(
            boxes,
            clusters=sum(int(levels.fine.max()) + 1 for levels in found),
            facts=_of_joins(task, groups, boxes) | _of_levels(task, groups, found),
            tables=tuple(
                SubTable(axes, half if levels.divided else task.k) for axes, levels in zip(groups, found, strict=True)
            ),
        )


@dataclass(frozen=True)
class SubTable:
    """Some quasi-identifiers that are published in a table of their own, linked to nothing."""

    axes: tuple[int, ...]
    k: int
    """Records of the table that share every combination of these quasi-identifiers, at least."""


@dataclass(frozen=True, kw_only=True)
class InSubTables(InTables):
    """A release of several tables; each is checked as an ordinary release of its columns, with a k of its own."""

    tables: tuple[SubTable, ...]

    @override
    def published(
        self, released: pl.DataFrame, kept: NDArray[np.int64], codes: Codes, policy: Policy
    ) -> list[PublishedTable]:
        return [self._ordinary(number, released, kept, codes, policy) for number in range(len(self.tables))]

    def _ordinary(
        self, number: int, released: pl.DataFrame, kept: NDArray[np.int64], codes: Codes, policy: Policy
    ) -> PublishedTable:
        table, name = self.tables[number], number + 1
        columns = [codes.axes[j].name for j in table.axes]
        promise = policy.of_columns([*columns, *policy.having_role("sensitive")], k=table.k)
        order = shuffled(len(kept), policy, name)
        return PublishedTable(str(name), released.select(*promise.columns)[order], kept[order], promise)


def _checked_groups(groups: Any) -> tuple[tuple[str, ...], ...]:
    """Groups as tuples, or a refusal."""
    lists = isinstance(groups, list | tuple) and all(isinstance(group, list | tuple) and group for group in groups)
    if not lists or not all(isinstance(name, str) for group in groups for name in group):
        raise ValueError("'groups' must be a list of lists of column names, none of them empty")
    return tuple(map(tuple, groups))


def _misgrouped(groups: tuple[tuple[str, ...], ...], quasi_identifiers: tuple[str, ...]) -> list[str]:
    """Why groups are no partition of the quasi-identifiers."""
    named = [name for group in groups for name in group]
    if not named:
        return []
    faults = [
        f"column {name!r} of 'groups' is no quasi-identifier of the policy; remove it, or give it the role."
        for name in dict.fromkeys(named)
        if name not in quasi_identifiers
    ]
    for name in quasi_identifiers:
        if named.count(name) != 1:
            times = "in no group" if name not in named else f"{named.count(name)} times in 'groups'"
            faults.append(f"quasi-identifier {name!r} stands {times}; put it into one group.")
    return faults


# -- two levels ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Levels:
    """Labels of the records after each level."""

    coarse: NDArray[np.int32]
    fine: NDArray[np.int32]
    divided: int
    """Number of clusters of the first level that the second divided."""


def two_levels(task: Task, size: int, part: int, split: str) -> Levels:
    """Systematic clusters of a size, those of high loss divided into parts of another size or more."""
    from kohort.kernels.algorithms.two_level import divide_clusters, gather_boxes
    from kohort.kernels.boxes import empty_boxes

    coarse = Systematic().cluster(replace(task, k=size, progress=lambda share: task.progress(LEVEL_1 * share)))
    # A part is sorted as the whole table is.
    order = task.codes.distinct.order
    order = order[np.argsort(coarse[order], kind="stable")]
    codes, labels = np.ascontiguousarray(task.codes.array[order]), coarse[order]
    sizes = np.bincount(labels)
    boxes = empty_boxes(len(sizes), codes.shape[1])
    gather_boxes(codes, labels, task.costs, boxes)
    loss = boxes.sizes * boxes.cost
    # In whole numbers: above the mean is above the sum if multiplied by the number of clusters.
    high = loss * len(loss) > loss.sum() if split == "above-mean" else loss > 0
    high &= (sizes >= 2 * part) & (split != "none")
    places = np.where(high, task.rng.integers(part, size=len(sizes)), -1)
    begins = np.concatenate([[0], np.cumsum(sizes)])
    parts = np.empty(len(order), np.int32)
    start = 0
    while start < len(sizes):
        stop = max(start + 1, int(np.searchsorted(begins, begins[start] + WORK, side="right")) - 1)
        divide_clusters(codes, task.costs, begins, part, places, start, stop, parts)
        task.progress(LEVEL_1 + (1 - LEVEL_1) * begins[stop] / len(order))
        start = stop
    fine = np.empty(len(order), np.int32)
    fine[order] = join_classes([labels, parts])
    return Levels(coarse, fine, int(high.sum()))


# -- tables of some of the quasi-identifiers -------------------------------------------------------


def _only(task: Task, axes: tuple[int, ...], number: int, parts: int) -> Task:
    """The task on some of the axes, as one of several parts of the work."""
    codes = Codes(np.ascontiguousarray(task.codes.array[:, axes]), tuple(task.codes.axes[j] for j in axes))
    return replace(
        task,
        codes=codes,
        costs=compile_costs(task.measure, codes.axes),
        progress=lambda share: task.progress((number + share) / parts),
    )


def _put_together(codes: Codes, groups: list[tuple[int, ...]], labels: list[NDArray[np.int32]]) -> Boxes:
    """The boxes of the records, each group of axes by labels of its own."""
    boxes = Boxes(np.empty_like(codes.array), np.empty_like(codes.array))
    for axes, own in zip(groups, labels, strict=True):
        some = boxes_of_labels(codes.array[:, axes], own)
        boxes.lo[:, axes], boxes.hi[:, axes] = some.lo, some.hi
    return boxes


def _of_levels(task: Task, groups: list[tuple[int, ...]], found: list[Levels]) -> dict[str, Any]:
    """What the second level did."""
    figures: dict[str, Any] = {"clusters divided": sum(levels.divided for levels in found)}
    for level in ("coarse", "fine"):
        boxes = _put_together(task.codes, groups, [getattr(levels, level) for levels in found])
        loss = loss_of_boxes(task.measure, task.codes, boxes.lo, boxes.hi).total
        figures[f"loss after level {1 if level == 'coarse' else 2}"] = loss
    return figures


def _of_joins(task: Task, groups: list[tuple[int, ...]], boxes: Boxes) -> dict[str, Any]:
    """What an outsider can do with the tables."""
    tables = [_published(task.codes, boxes, axes) for axes in groups]
    smallest = int(np.bincount(join_classes(tables)).min())
    kept = "kept" if smallest < task.k else "promised"
    figures: dict[str, Any] = {"warning": f"k is NOT {kept} on all quasi-identifiers together"}
    for number, (axes, classes) in enumerate(zip(groups, tables, strict=True), 1):
        names = ", ".join(task.codes.axes[j].name for j in axes)
        figures[f"effective k of table {number} ({names})"] = int(np.bincount(classes).min())
    figures["effective k if the tables are joined row by row"] = smallest
    figures["records alone if the tables are joined row by row"] = alone(tables)
    if task.sensitive is not None:
        sensitive = list(task.sensitive.array.T)
        left = values_left(tables, sensitive).min(axis=1)
        figures["fewest sensitive values that the classes of a record have in common"] = int(left.min())
        figures["records whose classes have one sensitive value in common"] = int((left == 1).sum())
        figures["records that sensitive values of their own link across the tables"] = alone(sensitive)
    return figures


def _published(codes: Codes, boxes: Boxes, axes: tuple[int, ...]) -> NDArray[np.int64]:
    """Number the records such that those that are published alike in a table have the same number."""
    some = Boxes(boxes.lo[:, axes], boxes.hi[:, axes])
    return classes_of_boxes([codes.axes[j] for j in axes], some)
