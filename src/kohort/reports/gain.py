"""Which column of texts would gain most by a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from kohort.errors import KohortError
from kohort.measures.loss import loss_of_solution
from kohort.policy import Policy
from kohort.release.engines.frame import loaded, solution_of, usable_of
from kohort.release.plan import plan_of
from kohort.reports.propose.trees import tree_of
from kohort.table import Table, read_table
from kohort.table.types import typed_column

TRIED_WITH = "fast"
_TRIED = 4
"""So many columns are tried, those with the largest loss first."""
_LEAST = 0.02
"""A hierarchy that saves a smaller part of the loss is not worth the work."""


@dataclass(frozen=True)
class Gain:
    """What a proposed hierarchy would spare."""

    column: str
    saved: float
    """The part of the total loss, by the algorithm of `TRIED_WITH` on both sides."""
    reason: str
    """Why the groups of the hierarchy are what they are."""


def gains(table: Any, policy: Policy | str | Path) -> tuple[Gain, ...]:
    """Try a hierarchy for each column of texts that has none, and say what each would spare; the most first.

    Parameters
    ----------
    table
        A file, a folder of files or a pattern, or a polars, pandas or pyarrow table.
    policy : Policy or path
        What is promised; of its privacy, k alone is tried.
    """
    plain = Policy.of(policy).with_changes("privacy", models=(), anonymity="classes", person=None)
    plain = plain.with_changes("algorithm", name=TRIED_WITH, parameters={}, refine=False, budget=None, seed=1)
    source = read_table(table, plain.input, plain.columns)
    flat = [name for name in plain.quasi_identifiers if _has_no_tree(source.frame, plain, name)]
    if not flat:
        return ()
    loss, by_column = _loss(source, plain)
    worst = sorted(flat, key=lambda name: -by_column[name] * plain.columns[name].weight)[:_TRIED]
    known = _typed(source.frame, plain)
    found = []
    for name in worst:
        tree = tree_of(known, name, [other for other in known.columns if other != name])
        if tree is None or loss <= 0:
            continue
        column = plain.to_dict()["columns"][name] | {"hierarchy": {"tree": tree.tree}}
        try:
            saved = 1 - _loss(source, plain.with_changes("columns", **{name: column}))[0] / loss
        except KohortError:  # the tree does not fit the policy: no advice
            continue
        if saved >= _LEAST:
            found.append(Gain(name, saved, tree.reason))
    return tuple(sorted(found, key=lambda gain: -gain.saved))


def _has_no_tree(frame: pl.DataFrame, policy: Policy, name: str) -> bool:
    hierarchy = policy.columns[name].hierarchy
    if hierarchy is not None:
        return hierarchy.flat is not None
    return typed_column(frame[name], policy).dtype == pl.String


def _typed(frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    return pl.DataFrame([typed_column(frame[name], policy) for name in policy.quasi_identifiers])


def _loss(source: Table, policy: Policy) -> tuple[float, dict[str, float]]:
    """The loss of a quick clustering, and that of each column."""
    plan, usable = plan_of(policy), usable_of(source, policy)
    ready = loaded(plan, usable)
    loss = loss_of_solution(plan.measure, ready.codes, solution_of(ready, usable.records), usable.without)
    return loss.total, dict(loss.by_column)
