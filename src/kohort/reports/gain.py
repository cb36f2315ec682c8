"""Which column of texts would gain most by a hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from kohort.common import stopping
from kohort.errors import Interrupted, KohortError
from kohort.measures.loss import loss_of_solution
from kohort.policy import Policy
from kohort.release.engines.frame import loaded, solution_of, usable_of
from kohort.release.plan import plan_of
from kohort.reports.explain import looked_at
from kohort.reports.propose.trees import tree_of
from kohort.reports.whatif import tried_with
from kohort.table import Table, read_table
from kohort.table.types import typed_column

_TRIED = 4
"""Number of columns that are tried, those with the largest loss first."""
_LEAST = 0.02
"""A hierarchy that saves a smaller part of the loss is not worth the work."""


@dataclass(frozen=True)
class Gain:
    """What a proposed hierarchy would spare."""

    column: str
    saved: float
    """The part of the total loss, by a quick algorithm on both sides."""
    reason: str
    """Why the groups of the hierarchy are what they are."""


def gains(
    table: Any,
    policy: Policy | str | Path,
    *,
    sample: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> tuple[Gain, ...]:
    """Try a hierarchy for each column of texts that has none, and say what each would spare; the most first.

    Parameters
    ----------
    table
        A file, a folder of files or a pattern, or a polars, pandas or pyarrow table.
    policy : Policy or path
        What is promised; of its privacy, k alone is tried.
    sample : int, optional
        Records to look at, at most, as in `kohort.explain`.
    progress : callable, optional
        Called with the step and the share of it that is done, 0 to 1. What is found before Ctrl-C is given back.
    """
    plain = Policy.of(policy).with_changes("privacy", models=(), anonymity="classes", person=None)
    source = read_table(table, plain.input, plain.columns)
    plain = plain.for_columns(source.frame.columns)
    seen = looked_at(source, plain, sample)[1]
    quick = tried_with(len(plain.quasi_identifiers))
    keys = {"name": quick.name, "parameters": dict(vars(quick)), "refine": False, "budget": None, "seed": 1}
    plain = plain.with_changes("algorithm", **keys)
    flat = [name for name in plain.quasi_identifiers if _has_no_tree(seen.frame, plain, name)]
    found: list[Gain] = []
    try:
        for number, gain in enumerate(_tried(seen, plain, flat)):
            stopping.heed()
            if progress is not None:
                progress("try hierarchies", (number + 1) / _TRIED)
            found += [gain] if gain is not None and gain.saved >= _LEAST else []
    except Interrupted:
        pass
    return tuple(sorted(found, key=lambda gain: -gain.saved))


def _tried(source: Table, policy: Policy, flat: list[str]) -> Iterator[Gain | None]:
    """What a hierarchy would spare for each of the costliest columns; None if there is none that fits."""
    if not flat:
        return
    loss, by_column = _loss(source, policy)
    worst = sorted(flat, key=lambda name: -by_column[name] * policy.columns[name].weight)[:_TRIED]
    known = _typed(source.frame, policy)
    for name in worst:
        tree = tree_of(known, name, [other for other in known.columns if other != name])
        if tree is None or loss <= 0:
            yield None
            continue
        column = policy.to_dict()["columns"][name] | {"hierarchy": {"tree": tree.tree}}
        try:
            saved = 1 - _loss(source, policy.with_changes("columns", **{name: column}))[0] / loss
        except KohortError:  # the tree does not fit the policy: no advice
            yield None
        else:
            yield Gain(name, saved, tree.reason)


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
