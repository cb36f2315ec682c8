"""Several algorithms on one table, side by side."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kohort.algorithms import ALGORITHMS
from kohort.codes.boxes import classes_of_boxes
from kohort.errors import KohortError
from kohort.measures.loss import loss_of_solution
from kohort.policy import Policy
from kohort.release.engines.frame import FrameScan, loaded, usable_of
from kohort.release.engines.survey import Usable
from kohort.release.plan import plan_of
from kohort.release.solve import solved
from kohort.table import read_table


@dataclass(frozen=True)
class Outcome:
    """What one algorithm did with one k."""

    algorithm: str
    k: int
    anonymity: str
    """What k means in its release."""
    loss: float | None
    """Information loss by the policy's measure; None if the algorithm refused."""
    classes: int | None
    """Number of published classes."""
    smallest: int | None
    largest: int | None
    suppressed: int | None
    seconds: float
    """Time of the clustering; the first run of an algorithm may compile it."""
    refused: str = ""
    """Why the algorithm refused, in one sentence."""


def compare(
    table: Any,
    policy: Policy | str | Path,
    *,
    algorithms: Sequence[str] | None = None,
    k: Sequence[int] | None = None,
    progress: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Run several algorithms on one table; nothing is published.

    Parameters
    ----------
    table
        Path of a CSV or Parquet file, a folder of such files or a pattern, or a polars, pandas or pyarrow table.
    policy : Policy or path
        Roles, hierarchies, weights, measure and seed; every algorithm starts from the same seed.
    algorithms : sequence of str, optional
        Names of algorithms, with their default parameters; all of them when absent.
    k : sequence of int, optional
        Class sizes; the policy's when absent.
    progress : callable, optional
        Called with each outcome as soon as it is there.

    Returns
    -------
    list of Outcome
        One for every algorithm and k.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], seed=1)
    >>> ages = pl.DataFrame({"age": [30, 31, 60, 64, 65]})
    >>> [outcome] = kohort.compare(ages, policy, algorithms=["k-member"])
    >>> outcome.classes, round(outcome.loss, 4)
    (2, 0.0971)
    """
    policy = Policy.of(policy)
    source = read_table(table, policy.input, policy.columns)
    usable = usable_of(source, policy)
    seed = policy.algorithm.seed if policy.algorithm.seed is not None else secrets.randbits(62)
    names = list(algorithms) if algorithms is not None else list(ALGORITHMS)
    for name in names:
        ALGORITHMS.make(name, {})  # a name that is not there ends the comparison before it begins
    outcomes = []
    for name in names:
        for size in k if k is not None else [policy.privacy.k]:
            changed = policy.with_changes("algorithm", name=name, parameters={}, seed=seed, refine=False)
            if not ALGORITHMS[name].searches:
                changed = changed.with_changes("algorithm", budget=None)
            changed = changed.with_changes("privacy", k=size, anonymity=ALGORITHMS[name].anonymity)
            outcome = _outcome(changed, usable)
            outcomes.append(outcome)
            if progress:
                progress(outcome)
    return outcomes


def _outcome(policy: Policy, usable: Usable[FrameScan]) -> Outcome:
    """Run the policy's algorithm, or say why it refuses."""
    name, size, anonymity = policy.algorithm.name, policy.privacy.k, policy.privacy.anonymity
    start = time.perf_counter()
    try:
        plan = plan_of(policy)
        table = loaded(plan, usable)
        start = time.perf_counter()
        solution = solved(plan, table.work, usable.records)
    except KohortError as error:
        seconds = time.perf_counter() - start
        return Outcome(name, size, anonymity, None, None, None, None, None, seconds, error.faults[0])
    seconds = time.perf_counter() - start
    boxes = solution.boxes if solution.kept is None else solution.boxes.of(solution.kept)
    if solution.buckets is not None:
        sizes = np.bincount(solution.buckets)
    else:
        # Two clusters that are published alike are one class.
        sizes = np.bincount(classes_of_boxes(usable.axes, boxes))
    return Outcome(
        algorithm=name,
        k=size,
        anonymity=anonymity,
        loss=loss_of_solution(plan.measure, table.codes, solution, usable.without).total,
        classes=len(sizes),
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        suppressed=usable.without + solution.suppressed,
        seconds=seconds,
    )
