"""The column of sets of a table: read and encoded before any work, repaired inside the classes that are published."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes, Solution, boxes_of_labels
from kohort.codes.encode import Codes
from kohort.codes.sets import SetCodes, encode_sets
from kohort.errors import InfeasibleError
from kohort.measures.loss import Loss, loss_of_solution
from kohort.policy import Policy
from kohort.privacy.constraints import parts_of
from kohort.privacy.models.item_constraints import ItemConstraints, groups_of
from kohort.privacy.models.k_m_anonymity import KMAnonymity
from kohort.privacy.models.rho_uncertainty import RhoUncertainty
from kohort.release.plan import Plan
from kohort.release.published_loss import Counted, sets_loss
from kohort.search.apriori import Apriori
from kohort.search.constraints import Constrained
from kohort.search.rho import Uncertain
from kohort.search.sets import Joint, Repair, Repaired, merged
from kohort.table.sets import Sets, emptied, read_sets, written_sets

_MOST_SUBSETS, _MOST_RULES = 1 << 33, 1 << 26
"""Sets of at most m items that all records have together, up to which they are counted; and up to which rules are."""


@dataclass(frozen=True)
class SetsOf:
    """The sets of a table, which a release is made of."""

    codes: SetCodes
    column: pl.Series
    """As it was read."""

    @classmethod
    def of(cls, frame: pl.DataFrame, plan: Plan) -> SetsOf | None:
        """The sets of a table, refused if nothing can be made of them; None if the policy has none."""
        if plan.of_sets is None:
            return None
        name = plan.of_sets.column
        sets = read_sets(frame[name], plan.policy)
        _refuse_subsets(sets, plan)
        return cls(encode_sets(name, sets, plan.policy), frame[name])


@dataclass(frozen=True)
class PublishedSets:
    """The sets of all records as they are published, empty where a record is not; and the solution that they fit."""

    column: pl.Series
    solution: Solution
    original: Counted
    """The texts of the original, read by the auditor's means."""
    facts: dict[str, Any]
    """Figures for the steward: items of published records, those that are left out, and their NCP."""


def published_sets(
    sets: SetsOf, codes: Codes, usable: NDArray[np.int64], solution: Solution, plan: Plan, *, as_text: bool
) -> PublishedSets:
    """Repair the sets inside the published classes, merging those that lose less as one.

    Parameters
    ----------
    codes : Codes
        Of the usable records.
    usable : array of int
        Rows of the table that take part.

    Raises
    ------
    InfeasibleError
        When more items would have to be left out than the policy allows.
    """
    policy, name = plan.policy, sets.codes.name
    kept = np.arange(len(usable)) if solution.kept is None else np.flatnonzero(solution.kept)
    some = _of_rows(sets.codes, usable[kept])
    share = Fraction(str(policy.columns[name].item_suppression_limit))
    repair = _repair(some, plan)

    def limit(items: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([math.floor(share * int(count)) for count in items], np.int64)

    labels = solution.classes(codes.axes).astype(np.int64)
    if codes.axes:
        own = boxes_of_classes(solution.boxes.of(kept), labels)
        joint = Joint(codes.axes, plan.measure, len(kept), len(some.items), some.weight)
        labels = merged(own, labels, some, joint, repair, limit)
        solution = _with_classes(solution, kept, labels)
    order = np.argsort(labels, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    items = np.add.reduceat(np.append(some.sizes[order], 0), bounds[:-1])
    found = repair(order, bounds, limit(items))
    suppressed = int(found.gone.sum())
    if suppressed > math.floor(share * len(some.items)):
        raise _infeasible(found, some, plan)
    of_records = found.of(np.argsort(order))
    written = _of_all(of_records, usable[kept], sets, as_text=as_text, separator=policy.columns[name].separator)
    facts = {
        "classes": len(bounds) - 1,
        "items": len(some.items),
        "left_out": suppressed,
        "ncp": float(found.losses.sum()) / max(len(some.items), 1),
    }
    return PublishedSets(written, solution, counted_sets(sets.column, policy), facts)


def counted_sets(column: pl.Series, policy: Policy) -> Counted:
    """The different texts of the original, lists as JSON arrays; null where the policy says that one is missing."""
    if isinstance(column.dtype, pl.List | pl.Array):
        items = column.cast(pl.List(pl.String)).to_list()
        column = pl.Series([None if one is None else json.dumps(one) for one in items], dtype=pl.String)
    counts = emptied(column.cast(pl.String), policy).alias("text").value_counts().sort("text")
    return Counted(counts["text"], counts["count"].to_numpy().astype(np.int64))


def joint_loss(plan: Plan, codes: Codes, found: PublishedSets, suppressed: int) -> Loss:
    """What the quasi-identifiers and the sets lose, as it will be read from the release; see `loss_of_solution`."""
    policy = plan.policy
    [name] = policy.sets
    by_column = loss_of_solution(plan.measure, codes, found.solution, suppressed).by_column if codes.axes else {}
    by_column[name] = sets_loss(policy, name, counted_sets(found.column, policy), found.original, plan.measure)
    weights = {column: policy.columns[column].weight for column in by_column}
    return Loss.of_columns(by_column, weights, plan.measure.name)


def _repair(codes: SetCodes, plan: Plan) -> Repair:
    """What keeps the promise."""
    model = plan.of_sets
    if isinstance(model, ItemConstraints):
        return _constrained(codes, model, plan)
    if isinstance(model, RhoUncertainty):
        sensitive = np.array([label in model.sensitive for label in codes.taxonomy.leaf_labels], bool)
        return Uncertain(codes, sensitive, Fraction(str(model.rho)), model.m or int(codes.sizes.max(initial=1)))
    assert isinstance(model, KMAnonymity)
    return Apriori(codes, plan.measure, plan.k, model.m, model.recoding == "local")


def _constrained(codes: SetCodes, model: ItemConstraints, plan: Plan) -> Constrained:
    """The constraints by the numbers of the items; those about items that no record has are kept by all."""
    policy, tree = plan.policy, codes.taxonomy
    separator = policy.columns[model.column].separator
    number = {label: leaf for leaf, label in enumerate(tree.leaf_labels)}
    lists = model.sets_of("protect", policy.folder, separator)
    if lists is None:
        parts: list[tuple[int, ...]] = [(item,) for item in range(tree.n_leaves)]
        if model.every == 2:
            parts += itertools.combinations(range(tree.n_leaves), 2)
    else:
        parts = [tuple(number[item] for item in part) for part in parts_of(lists) if all(one in number for one in part)]
    groups = groups_of(policy, model, tree.leaf_labels)
    allowed = np.zeros(tree.n_leaves, np.int32)
    if groups is not None:
        allowed[:] = -1
        for place, group in enumerate(groups):
            allowed[[number[item] for item in group if item in number]] = place
    return Constrained(codes, plan.k, tuple(parts), allowed)


def boxes_of_classes(boxes: Boxes, labels: NDArray[np.int64]) -> Boxes:
    """The box of each class, of those of its records."""
    first = np.unique(labels, return_index=True)[1]
    return boxes.of(first)


def _with_classes(solution: Solution, kept: NDArray[np.int64], labels: NDArray[np.int64]) -> Solution:
    """The solution whose published records are in these classes."""
    boxes = solution.boxes.of(kept)
    low = boxes_of_labels(boxes.lo, labels.astype(np.int32)).lo
    high = boxes_of_labels(boxes.hi, labels.astype(np.int32)).hi
    lo, hi = solution.boxes.lo.copy(), solution.boxes.hi.copy()
    lo[kept], hi[kept] = low, high
    return replace(solution, boxes=Boxes(lo, hi), clusters=int(labels.max(initial=-1)) + 1)


def _of_rows(codes: SetCodes, rows: NDArray[np.int64]) -> SetCodes:
    sizes = codes.sizes[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    index = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(codes.starts[rows], sizes)
    return replace(codes, items=np.ascontiguousarray(codes.items[index]), starts=starts)


def _of_all(
    found: Repaired, rows: NDArray[np.int64], sets: SetsOf, *, as_text: bool, separator: str | None
) -> pl.Series:
    """The published sets of all rows of the table, those of others empty."""
    order = np.argsort(rows)
    in_order = found.of(order)
    sizes = np.zeros(sets.codes.records, np.int64)
    sizes[rows] = np.diff(found.starts)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return written_sets(found.texts, in_order.labels, starts, sets.column, separator, as_text=as_text)


def _refuse_subsets(sets: Sets, plan: Plan) -> None:
    """Refuse what would never end: a record of many items has very many sets of m of them."""
    model = plan.of_sets
    sizes, times = np.unique(sets.sizes, return_counts=True)
    longest = int(sizes.max(initial=0))
    if isinstance(model, KMAnonymity):
        m, most = model.m, _MOST_SUBSETS
    elif isinstance(model, RhoUncertainty):
        m, most = min(model.m or longest, longest), _MOST_RULES
    else:
        return

    def subsets(m: int) -> int:
        return sum(
            int(count) * (1 << int(size) if m >= size else sum(math.comb(int(size), some) for some in range(1, m + 1)))
            for size, count in zip(sizes, times, strict=True)
        )

    if subsets(m) <= most:
        return
    near = next((fewer for fewer in range(min(m, 8), 0, -1) if subsets(fewer) <= most), 0)
    raise InfeasibleError(
        _located(plan, f"the records have too many sets of at most {m:,} items to be counted; ")
        + (f"choose m = {near}." if near else "drop records with very many items.")
    )


def _located(plan: Plan, sentence: str) -> str:
    place = next(place for place, model in plan.others if model is plan.of_sets)
    return plan.policy.located(place, sentence)


def _infeasible(found: Repaired, codes: SetCodes, plan: Plan) -> InfeasibleError:
    """That too many items would be left out, and what can be kept instead."""
    assert plan.of_sets is not None
    name = codes.name
    gone, total = int(found.gone.sum()), len(codes.items)
    limit = plan.policy.columns[name].item_suppression_limit
    enough = math.ceil(10_000 * gone / total) / 10_000
    full = int((codes.sizes > 0).sum())
    k = f", or k = {full}" if 2 <= full < plan.k else ""
    return InfeasibleError(
        plan.policy.located(
            ("columns", name),
            f"{gone:,} of {total:,} items of column {name!r} ({100 * gone / total:.2f} %) would be left out of their "
            f"sets, and item_suppression_limit is {100 * limit:.2f} %; the nearest that can be kept is "
            f"item_suppression_limit = {enough}{k}.",
        )
    )
