"""Where the loss of a release comes from: which columns, which kinds of records; never a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.algorithms import ALGORITHMS
from kohort.codes.boxes import Boxes, Solution, classes_of_boxes
from kohort.codes.encode import Codes
from kohort.codes.levels import Ladder, ladder_of
from kohort.measures.compile import compile_costs
from kohort.measures.loss import Loss, cell_costs, loss_of_boxes, loss_of_solution, star_cost
from kohort.policy import Policy
from kohort.release.engines.frame import loaded, solution_of, usable_of
from kohort.release.plan import Plan, plan_of
from kohort.search.task import Task
from kohort.table import read_table

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

TRIED_WITH = "fast"
"""The algorithm of all what-ifs: quick, and the same for both sides of a difference."""
PARTS = (0.01, 0.05, 0.1)
"""Costliest shares of the records, whose share of the loss is reported."""
COSTLIEST = 0.05
"""Share of the records whose kinds are reported."""
RARE = 0.01
"""A value that fewer records have is rare, whatever k is."""
FAR = 0.01
"""Share of the records at each end of a column of numbers or dates."""
FREQUENT = 1.5
"""A kind is reported if it is this many times more frequent among the costliest records than among all."""
CLEAR = 0.05
"""A what-if that saves a smaller part of the loss is no advice: it may be chance."""
MOST_GROUPS = 1024
"""Levels of more groups are not tried: the cost of each pair of groups is put into a table."""


@dataclass(frozen=True)
class Dropped:
    """What happens to the loss when a column is not published."""

    others: float
    """Loss of the other columns. It is the total loss, too, if the dropped column is not counted."""
    others_saved: float
    """The part of their loss that the other columns are spared; below 0 if they lose more."""
    total: float
    """Loss of all columns, the dropped one counted as wholly lost."""


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


@dataclass(frozen=True)
class ColumnCause:
    """What one quasi-identifier has to do with the loss."""

    name: str
    weight: float
    loss: float
    """Its own loss, 0 to 1."""
    share: float
    """Its share of the total loss, by the weights of the policy."""
    tried_others: float | None
    """Loss of the other columns in the clustering that the what-ifs are compared with."""
    dropped: Dropped | None
    """None if no other column has a weight."""
    coarser: tuple[Coarser, ...]
    """One for each level between the values as they are and one group of all."""
    best_level: int | None
    """The level that lowers the total loss most, if one does. It is a sign that the table is hard to sort: the same
    clusters, published by the values as they are, would lose no more."""
    advice: str
    """One sentence, or empty where nothing is clear."""


@dataclass(frozen=True)
class Share:
    """How much of the loss the costliest records carry."""

    records: float
    """The costliest part of the records, 0 to 1."""
    loss: float | None
    """Their share of the loss; None if they are fewer than k."""


@dataclass(frozen=True)
class Kind:
    """A kind of records that is frequent among the costliest ones. Numbers of fewer than k records are not shown."""

    column: str
    what: str
    """What these records have in common, without a value."""
    among_costliest: float | None
    """Share of the costliest records that are of this kind."""
    among_all: float | None
    """Share of all records that are of this kind."""
    ratio: float | None
    """How many times more frequent the kind is among the costliest."""


@dataclass(frozen=True)
class Explanation:
    """Why a release loses what it loses. It holds names of columns and figures, and no value."""

    algorithm: str
    """What the loss, the classes and the kinds are of: the policy's algorithm, or `auto` if that has no classes."""
    k: int
    measure: str
    loss: float
    columns: tuple[ColumnCause, ...]
    """In the order of the policy."""
    tried_with: str
    """The algorithm that every what-if was clustered with."""
    tried_loss: float
    """What it loses on the table as it is: the loss that each what-if is compared with."""
    records: int
    classes: int
    smallest: int
    median: float
    largest: int
    suppressed: int | None
    """Records that are not published; None for some, but fewer than k."""
    parts: tuple[Share, ...]
    costliest: float | None
    """The part of the records that `kinds` are about: those of equal loss are together; None if fewer than k."""
    kinds: tuple[Kind, ...]
    """Largest ratio first."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def explain(
    table: Any, policy: Policy | str | Path, *, progress: Callable[[str, float], None] | None = None
) -> Explanation:
    """Report where the information loss comes from; nothing is published, and no value is shown.

    Parameters
    ----------
    table
        Path of a CSV or Parquet file, a folder of such files or a pattern, or a polars, pandas or pyarrow table.
    policy : Policy or path
        Roles, hierarchies, weights, measure, algorithm and seed.
    progress : callable, optional
        Called with the step and the share of it that is done, 0 to 1.

    Returns
    -------
    Explanation
        The loss by column, what dropping or coarsening each column would change, how the loss is spread over the
        records, and what kinds of records carry most of it.

    Notes
    -----
    The table is clustered once by the policy's algorithm, and for each what-if once by `fast`. What-ifs concern
    the records that take part, none of them suppressed, and k-anonymity of records alone: where the policy counts
    persons, the loss and the classes are of persons, and both sides of a what-if are not.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age", "sex"], seed=1)
    >>> people = pl.DataFrame({"age": [30, 31, 60, 64], "sex": ["f", "f", "m", "m"]})
    >>> age, sex = kohort.explain(people, policy).columns
    >>> age.share, sex.share
    (1.0, 0.0)
    """
    tell = progress or (lambda step, share: None)
    policy = Policy.of(policy)
    plan = _plan_with_classes(policy)
    source = read_table(table, policy.input, policy.columns)
    usable = usable_of(source, policy)
    ready = loaded(plan, usable, lambda share: tell("cluster", share))
    task, codes, records = ready.work.whole, ready.codes, usable.records
    solution = solution_of(ready, records)
    loss = loss_of_solution(plan.measure, codes, solution, usable.without)
    tried = _Trial(task, plan.seed)
    columns = []
    for j in range(len(codes.axes)):
        tell("try columns", j / len(codes.axes))
        columns.append(_cause(tried, j, loss))
    tell("try columns", 1.0)
    published = solution.boxes if solution.kept is None else solution.boxes.of(solution.kept)
    sizes = np.bincount(classes_of_boxes(codes.axes, published))
    costs = np.full(records, _suppressed_cost(task))
    costs[ready.scan.kept] = _record_costs(task, solution)
    costliest = _costliest(costs, task.k)
    suppressed = records - len(published.lo)
    return Explanation(
        algorithm=plan.algorithm.name,
        k=task.k,
        measure=plan.measure.name,
        loss=loss.total,
        columns=tuple(columns),
        tried_with=TRIED_WITH,
        tried_loss=tried.loss.total,
        records=records,
        classes=len(sizes),
        smallest=int(sizes.min()),
        median=float(np.median(sizes)),
        largest=int(sizes.max()),
        suppressed=None if 0 < suppressed < task.k else suppressed,
        parts=tuple(Share(part, _carried(costs, part, task.k)) for part in PARTS),
        costliest=float(costliest.mean()) if costliest.any() else None,
        kinds=tuple(_frequent_kinds(ready.scan.typed, costliest, task.k)),
    )


def _plan_with_classes(policy: Policy) -> Plan:
    """The plan of the policy; if its release is not one table in classes, that of `auto`, with k alone."""
    plan = plan_of(policy)
    if policy.privacy.anonymity == "classes" and not plan.algorithm.tables(policy):
        return plan
    changed = policy.with_changes("algorithm", name="auto", parameters={}, seed=plan.seed)
    return plan_of(changed.with_changes("privacy", anonymity="classes", models=()))


# -- columns -------------------------------------------------------------------------------------


class _Trial:
    """What-ifs on one table: each is one quick clustering from the same seed."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task = task
        self.seed = seed
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
        return Dropped(others.total, _saved(self.others(j), others.total), total)

    def coarser(self, j: int) -> Iterator[Coarser]:
        """Cluster with a column at each level of its ladder; the top level would be no column at all."""
        ladder = ladder_of(self.codes.axes[j])
        for level in range(1, ladder.top):
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
                    others_saved=_saved(self.others(j), others),
                    total=loss.total,
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
        return ALGORITHMS.make(TRIED_WITH, {}).solve(task).boxes

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


def _saved(before: float, after: float) -> float:
    return 1 - after / before if before > 0 else 0.0


def _cause(tried: _Trial, j: int, loss: Loss) -> ColumnCause:
    axis = tried.codes.axes[j]
    own, weight = loss.by_column[axis.name], sum(tried.weights.values())
    alone = not tried.has_others(j)
    dropped = None if alone else tried.dropped(j)
    coarser = () if alone else tuple(tried.coarser(j))
    least = min(coarser, key=lambda variant: variant.total, default=None)
    return ColumnCause(
        name=axis.name,
        weight=axis.weight,
        loss=own,
        share=axis.weight * own / (weight * loss.total) if loss.total > 0 else 0.0,
        tried_others=None if alone else tried.others(j),
        dropped=dropped,
        coarser=coarser,
        best_level=least.level if least and least.total < tried.loss.total else None,
        advice=_advice(dropped, least),
    )


def _advice(dropped: Dropped | None, least: Coarser | None) -> str:
    """What would spare the other columns; a lower total is never promised, see `ColumnCause.best_level`."""
    if dropped is None or dropped.others_saved < CLEAR:
        return ""
    sentence = f"dropping it would lower the loss of the other columns by {dropped.others_saved:.0%}"
    if least is not None and least.others_saved >= CLEAR:
        sentence += f", publishing it at level {least.level} of {least.top} by {least.others_saved:.0%}"
    return f"{sentence}."


# -- records -------------------------------------------------------------------------------------


def _record_costs(task: Task, solution: Solution) -> NDArray[np.float64]:
    """Loss of each record that takes part, 0 to 1; a suppressed one loses what `*` does."""
    boxes = solution.boxes
    costs = np.zeros(len(boxes.lo))
    for j, axis in enumerate(task.codes.axes):
        costs += axis.weight * cell_costs(task.measure, axis, boxes.lo[:, j], boxes.hi[:, j])
    costs /= sum(axis.weight for axis in task.codes.axes)
    if solution.kept is not None:
        costs[~solution.kept] = _suppressed_cost(task)
    return costs


def _suppressed_cost(task: Task) -> float:
    """Loss of a record that is not published."""
    axes = task.codes.axes
    return sum(axis.weight * star_cost(task.measure, axis) for axis in axes) / sum(axis.weight for axis in axes)


def _carried(costs: NDArray[np.float64], part: float, k: int) -> float | None:
    """Share of the loss that the costliest records carry; None for fewer than k records."""
    some = math.ceil(part * len(costs))
    if some < k:
        return None
    loss = costs.sum()
    return float(np.sort(costs)[-some:].sum() / loss) if loss > 0 else 0.0


def _costliest(costs: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """The costliest records, and those that cost as much as the last of them; nobody if they are fewer than k."""
    some = max(k, math.ceil(COSTLIEST * len(costs)))
    chosen = (costs >= np.sort(costs)[-some]) & (costs > 0)
    return chosen if chosen.sum() >= k else np.zeros(len(costs), bool)


def _frequent_kinds(frame: pl.DataFrame, costliest: NDArray[np.bool_], k: int) -> list[Kind]:
    """Kinds that are frequent among the costliest records, the most outstanding first."""
    chosen, everyone = int(costliest.sum()), len(costliest)
    found = []
    for series in frame:
        seen: list[NDArray[np.bool_]] = []
        for what, fits in _kinds(series, k):
            costly, all_of_them = int((fits & costliest).sum()), int(fits.sum())
            known = any(np.array_equal(fits, other) for other in seen)
            seen.append(fits)
            if known or not costly or costly * everyone < FREQUENT * all_of_them * chosen:
                continue
            among_costliest = costly / chosen if costly >= k else None
            among_all = all_of_them / everyone if all_of_them >= k else None
            both = among_costliest is not None and among_all is not None
            ratio = costly * everyone / (all_of_them * chosen) if both else None
            found.append(Kind(series.name, what, among_costliest, among_all, ratio))
    return sorted(found, key=lambda kind: -(kind.ratio or 0.0))


def _kinds(series: pl.Series, k: int) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """What can be said of records by one column without showing a value."""
    missing = series.is_null().to_numpy()
    yield "value is missing", missing
    occurrences = series.to_frame().select(pl.len().over(series.name)).to_series().to_numpy()
    yield f"value that fewer than {k} records have", ~missing & (occurrences < k)
    yield f"value that under {RARE:.0%} of the records have", ~missing & (occurrences < RARE * len(series))
    present = series.drop_nulls().sort()
    if (series.dtype.is_numeric() or series.dtype == pl.Date) and len(present):
        far = math.ceil(FAR * len(present))
        low, high = present[min(far, len(present) - 1)], present[max(len(present) - 1 - far, 0)]
        outermost = (series < low) | (series > high)
        yield f"among the lowest or highest {FAR:.0%}", outermost.fill_null(value=False).to_numpy()
