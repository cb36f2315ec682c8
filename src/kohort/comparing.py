"""Several algorithms on one table, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kohort.algorithms import ALGORITHMS, Task
from kohort.encode import encode
from kohort.errors import KohortError
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_boxes
from kohort.pipeline import plan_of, refuse_the_impossible, usable_records
from kohort.policy import Policy
from kohort.recode import boxes_of_labels
from kohort.table import read_table


@dataclass(frozen=True)
class Outcome:
    """What one algorithm did with one k."""

    algorithm: str
    k: int
    loss: float | None
    """Information loss by the policy's measure; None if the algorithm refused."""
    classes: int | None
    """Number of published classes."""
    smallest: int | None
    largest: int | None
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
        Path of a CSV or Parquet file, or a polars, pandas or pyarrow table.
    policy : Policy or path
        Roles, hierarchies, weights, measure and seed; every algorithm starts from the same seed.
    algorithms : sequence of str, optional
        Names of algorithms, with their default parameters; all of them when absent.
    k : sequence of int, optional
        Class sizes; the policy's when absent.
    progress : callable, optional
        Told each outcome as soon as it is there.

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
    source = read_table(table, policy.input)
    kept, frame = usable_records(source, policy)
    suppressed = source.frame.height - len(kept)
    codes = encode(frame, policy)
    seed = plan_of(policy).seed
    outcomes = []
    for name in algorithms if algorithms is not None else list(ALGORITHMS):
        for size in k if k is not None else [policy.privacy.k]:
            changed = policy.with_changes("algorithm", name=name, parameters={}).with_changes("privacy", k=size)
            plan = plan_of(changed)
            refuse_the_impossible(plan, len(kept), suppressed)
            costs = compile_costs(plan.measure, codes.axes)
            task = Task(codes, plan.measure, costs, size, np.random.default_rng(seed), lambda share: None)
            start = time.perf_counter()
            try:
                labels = plan.algorithm.cluster(task)
            except KohortError as error:
                outcome = Outcome(name, size, None, None, None, None, time.perf_counter() - start, error.faults[0])
            else:
                seconds = time.perf_counter() - start
                boxes = boxes_of_labels(codes, labels)
                # Two clusters with the same box are one class.
                _, sizes = np.unique(np.hstack([boxes.lo, boxes.hi]), axis=0, return_counts=True)
                loss = loss_of_boxes(plan.measure, codes, boxes.lo, boxes.hi, suppressed).total
                outcome = Outcome(name, size, loss, len(sizes), int(sizes.min()), int(sizes.max()), seconds)
            outcomes.append(outcome)
            if progress:
                progress(outcome)
    return outcomes
