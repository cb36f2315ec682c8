"""Where the loss of a release comes from: which columns, which kinds of records; never a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.boxes import Solution, classes_of_boxes
from kohort.codes.encode import Codes
from kohort.common.progress import heeding
from kohort.errors import Interrupted
from kohort.measures.loss import Loss, cell_costs, loss_of_solution, star_cost
from kohort.policy import Policy
from kohort.release.engines.frame import Loaded, loaded, solution_of, usable_of
from kohort.release.plan import Plan, plan_of
from kohort.reports.sets import refuse_sets
from kohort.reports.whatif import Coarser, Dropped, Lighter, Trial
from kohort.search.task import Task
from kohort.table import Table, read_table

CELLS = 60_000
"""A table with more values is looked at by a sample with about this number, and of no fewer than `FEWEST` records."""
FEWEST, FEWEST_CLASSES = 500, 20
TRIES = 420
"""What-ifs, at most: every column is left out, then counts less, then is coarser, the costliest first."""
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
    """None if no other column has a weight, or it was not tried."""
    coarser: tuple[Coarser, ...]
    """For levels between the values as they are and one group of all; of many columns, not for all."""
    lighter: Lighter | None
    """None if its weight is 0."""
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
    """Records that were looked at."""
    of: int
    """Records of the table; more if only a sample was looked at."""
    complete: bool
    """Whether all what-ifs were tried; not after Ctrl-C."""
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
    table: Any,
    policy: Policy | str | Path,
    *,
    sample: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Explanation:
    """Report where the information loss comes from; nothing is published, and no value is shown.

    Parameters
    ----------
    table
        Path of a CSV or Parquet file, a folder of such files or a pattern, or a polars, pandas or pyarrow table.
    policy : Policy or path
        Roles, hierarchies, weights, measure, algorithm and seed.
    sample : int, optional
        Records to look at, at most; by default as many as take less than half a minute.
    progress : callable, optional
        Called with the step and the share of it that is done, 0 to 1.

    Returns
    -------
    Explanation
        The loss by column, what dropping or coarsening each column would change, how the loss is spread over the
        records, and what kinds of records carry most of it.

    Notes
    -----
    The table is clustered once by the policy's algorithm, and for each what-if once by a quick one. What-ifs concern
    the records that take part, none of them suppressed, and k-anonymity of records alone: where the policy counts
    persons, the loss and the classes are of persons, and both sides of a what-if are not. A sample is clustered by
    `auto`, with k alone; among fewer records a class of k loses more.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age", "sex"], seed=1)
    >>> people = pl.DataFrame({"age": [30, 31, 60, 64], "sex": ["f", "f", "m", "m"]})
    >>> age, sex = kohort.explain(people, policy).columns
    >>> age.share, sex.share
    (1.0, 0.0)
    """
    report = heeding(progress)
    policy = Policy.of(policy)
    source = read_table(table, policy.input, policy.columns)
    policy = policy.for_columns(source.frame.columns)
    refuse_sets(policy, "why")
    plan, seen = looked_at(source, policy, sample)
    usable = usable_of(seen, plan.policy)
    ready = loaded(plan, usable, lambda share: report("cluster", share))
    task, codes, records = ready.work.whole, ready.codes, usable.records
    solution = solution_of(ready, records)
    loss = loss_of_solution(plan.measure, codes, solution, usable.without)
    tried = Trial(task, plan.seed)
    columns, complete = _causes(tried, loss, report)
    return Explanation(
        algorithm=plan.algorithm.name,
        k=task.k,
        measure=plan.measure.name,
        loss=loss.total,
        columns=columns,
        tried_with=tried.algorithm.name,
        tried_loss=tried.loss.total,
        records=records,
        of=source.frame.height,
        complete=complete,
        **_classes(codes, solution),
        **_records(ready, solution, records),
    )


def looked_at(source: Table, policy: Policy, sample: int | None = None) -> tuple[Plan, Table]:
    """The records of a table that are looked at, and the plan for them."""
    plan = _plan_with_classes(policy)
    most = sample or max(CELLS // len(policy.quasi_identifiers), FEWEST, FEWEST_CLASSES * policy.privacy.k)
    if source.frame.height <= most:
        return plan, source
    usable_of(source, policy)  # what a release is refused for is refused here, too
    quick = {"name": "auto", "parameters": {}, "refine": False, "budget": None, "seed": plan.seed}
    alone = {"anonymity": "classes", "models": (), "suppression_limit": 1.0}
    plan = plan_of(policy.with_changes("algorithm", **quick).with_changes("privacy", **alone))
    return plan, replace(source, frame=source.frame.sample(most, seed=plan.seed % 2**63))


def _plan_with_classes(policy: Policy) -> Plan:
    """The plan of the policy; if its release is not one table in classes, that of `auto`, with k alone."""
    plan = plan_of(policy)
    if policy.privacy.anonymity == "classes" and not plan.algorithm.tables(policy):
        return plan
    changed = policy.with_changes("algorithm", name="auto", parameters={}, seed=plan.seed)
    return plan_of(changed.with_changes("privacy", anonymity="classes", models=()))


# -- columns -------------------------------------------------------------------------------------


@dataclass
class _Found:
    """What was tried of a column so far."""

    dropped: Dropped | None = None
    lighter: Lighter | None = None
    coarser: tuple[Coarser, ...] = ()


def _causes(tried: Trial, loss: Loss, report: Callable[[str, float], None]) -> tuple[tuple[ColumnCause, ...], bool]:
    """What each column has to do with the loss; and whether everything was tried, or somebody pressed Ctrl-C."""
    axes = tried.codes.axes
    found = [_Found() for _ in axes]
    complete = True
    costly = sorted(range(len(axes)), key=lambda j: -axes[j].weight * loss.by_column[axes[j].name])
    costly = [j for j in costly if tried.has_others(j)]
    left = max(TRIES - 2 * len(costly), 0)
    levels = {j: left // len(costly) + (place < left % len(costly)) for place, j in enumerate(costly)}
    tries = [(what, j) for what in ("dropped", "lighter") for j in costly][:TRIES]
    tries += [("coarser", j) for j in costly if levels[j]]
    try:
        for number, (what, j) in enumerate(tries):
            report("try columns", number / len(tries))
            if what == "dropped":
                found[j].dropped = tried.dropped(j)
            elif what == "lighter":
                found[j].lighter = tried.lighter(j) if axes[j].weight > 0 else None
            else:
                found[j].coarser = tuple(tried.coarser(j, levels[j]))
    except Interrupted:
        complete = False
    return tuple(_cause(tried, j, loss, one) for j, one in enumerate(found)), complete


def _cause(tried: Trial, j: int, loss: Loss, found: _Found) -> ColumnCause:
    axis = tried.codes.axes[j]
    own, weight = loss.by_column[axis.name], sum(tried.weights.values())
    least = min(found.coarser, key=lambda variant: variant.total, default=None)
    return ColumnCause(
        name=axis.name,
        weight=axis.weight,
        loss=own,
        share=axis.weight * own / (weight * loss.total) if loss.total > 0 else 0.0,
        tried_others=tried.others(j) if tried.has_others(j) else None,
        dropped=found.dropped,
        coarser=found.coarser,
        lighter=found.lighter,
        best_level=least.level if least and least.total < tried.loss.total else None,
        advice=_advice(found.dropped, least),
    )


def _advice(dropped: Dropped | None, least: Coarser | None) -> str:
    """What would spare the other columns; a lower total is never promised, see `ColumnCause.best_level`."""
    if dropped is None or dropped.others_saved < CLEAR:
        return ""
    sentence = f"dropping it would lower the loss of the other columns by {dropped.others_saved:.0%}"
    if least is not None and least.others_saved >= CLEAR:
        sentence += f", publishing it at level {least.level} of {least.top} by {least.others_saved:.0%}"
    return f"{sentence}."


def _classes(codes: Codes, solution: Solution) -> dict[str, Any]:
    """How many classes there are, and how large they are."""
    published = solution.boxes if solution.kept is None else solution.boxes.of(solution.kept)
    sizes = np.bincount(classes_of_boxes(codes.axes, published))
    found = {"classes": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
    return found | {"median": float(np.median(sizes))}


# -- records -------------------------------------------------------------------------------------


def _records(ready: Loaded, solution: Solution, records: int) -> dict[str, Any]:
    """How the loss is spread over the records, and what kinds of them carry most of it."""
    task = ready.work.whole
    costs = np.full(records, _suppressed_cost(task))
    costs[ready.scan.kept] = _record_costs(task, solution)
    costliest = _costliest(costs, task.k)
    kept = len(solution.boxes.lo) if solution.kept is None else int(solution.kept.sum())
    suppressed = records - kept
    return {
        "suppressed": None if 0 < suppressed < task.k else suppressed,
        "parts": tuple(Share(part, _carried(costs, part, task.k)) for part in PARTS),
        "costliest": float(costliest.mean()) if costliest.any() else None,
        "kinds": tuple(_frequent_kinds(ready.scan.typed, costliest, task.k)),
    }


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
