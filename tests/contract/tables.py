"""The tables that every algorithm must cope with, and the task that the pipeline makes of each."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import polars as pl

from helpers.tasks import SHORT
from kohort.algorithms import ALGORITHMS, Algorithm
from kohort.policy import Policy
from kohort.release.engines.frame import loaded, usable_of
from kohort.release.plan import plan_of
from kohort.search.task import Task
from kohort.table import read_table

SENSITIVE = "illness"

UNBALANCED = {
    "tree": {
        "Lung": {"Infection": ["a", "b", "c"], "Chronic": {"Airways": ["d", "e"]}},
        "Skin": ["f", "g", {"Burns": ["h"]}],
        "Eye": ["i"],
    }
}
"""Leaves two to four edges below the root; nodes with a single child; leaves beside nodes."""


@dataclass(frozen=True)
class Example:
    """A table with a policy that fits it, for any algorithm."""

    frame: pl.DataFrame
    policy: Policy

    @classmethod
    def of(cls, columns, k, **build):
        """Quasi-identifiers, and a sensitive column that buckets of k can be made of: no value is too frequent."""
        frame = pl.DataFrame(columns)
        n = frame.height
        values = np.random.default_rng(9).permutation(n) % (n if n < 4 * k else 2 * k)
        return cls(
            frame.with_columns(pl.Series(SENSITIVE, [f"illness {value}" for value in values])),
            Policy.build(k=k, quasi_identifiers=frame.columns, sensitive=[SENSITIVE], **build),
        )

    def policy_for(self, algorithm, *, seed=5, **privacy):
        """The policy with an algorithm, and the promise that this algorithm makes."""
        changed = self.policy.with_changes("algorithm", name=algorithm, seed=seed, parameters=SHORT.get(algorithm, {}))
        return changed.with_changes("privacy", anonymity=ALGORITHMS[algorithm].anonymity, **privacy)


@dataclass(frozen=True)
class Trial:
    """An algorithm and its task, as the pipeline would make them."""

    algorithm: Algorithm
    task: Task
    shares: list[float]
    """The progress that was told."""
    sensitive: list[str]


def trial_of(algorithm, example, **changes):
    """Make the task of an algorithm, or refuse as the pipeline does."""
    policy, shares = example.policy_for(algorithm, **changes), []
    plan = plan_of(policy)
    source = read_table(example.frame, policy.input)
    table = loaded(plan, usable_of(source, policy), shares.append)
    return Trial(plan.algorithm, table.work.whole, shares, source.frame[SENSITIVE][table.scan.kept].to_list())


def example_of(name, k=4):
    """One of the tables."""
    return Example.of(k=k, **_recipe(name, k, np.random.default_rng(8)))


TABLES = [
    "n = k", "n = k + 1", "n = 2k - 1", "n = 2k", "n not divisible by k", "all equal", "two values", "one column",
    "one category", "one tree", "heavy ties", "no duplicates", "outliers", "many columns", "missing",
    "missing in a tree", "weights", "deep trees", "dates", "mixed",
]  # fmt: skip
MAY_BE_TOO_LARGE = {"many columns"}
"""An algorithm whose work grows with the power of the columns may say so and refuse."""


def _recipe(name, k, rng):
    """Columns, and what else is to be said about them."""
    numbers = {
        "n = k": k,
        "n = k + 1": k + 1,
        "n = 2k - 1": 2 * k - 1,
        "n = 2k": 2 * k,
        "n not divisible by k": 11 * k + k - 1,
    }
    if name in numbers:
        n = numbers[name]
        return {"columns": {"a": rng.integers(0, 9, n), "b": rng.choice(list("xyz"), n)}}
    if name == "all equal":
        return {"columns": {"a": [5] * 22, "b": ["x"] * 22}}
    if name == "two values":
        return {"columns": {"a": [0] * 3 + [1] * 30}}
    if name == "one column":
        return {"columns": {"a": rng.integers(0, 1000, 150)}}
    if name == "one category":
        return {"columns": {"a": rng.choice(list("abcdefgh"), 101)}}
    if name == "one tree":
        return {"columns": {"a": rng.choice(list("abcdefghi"), 101)}, "hierarchies": {"a": UNBALANCED}}
    if name == "heavy ties":
        return {"columns": {f"c{i}": rng.integers(0, 2, 203) for i in range(3)}}
    if name == "no duplicates":
        return {"columns": {"a": rng.permutation(203), "b": rng.permutation(203)}}
    if name == "outliers":
        return {"columns": {"a": [*rng.integers(0, 10, 90), 10**6, 10**9], "b": [*["x"] * 91, "y"]}}
    if name == "many columns":
        return {"columns": {f"c{i}": rng.integers(0, 6, 90) for i in range(18)}}
    if name == "missing":
        return {"columns": {"a": _with_gaps(rng, rng.integers(0, 20, 97).tolist()), "b": [None] * 97}}
    if name == "missing in a tree":
        words = _with_gaps(rng, rng.choice(list("abcdefghi"), 130).tolist())
        return {"columns": {"a": words, "b": rng.integers(0, 9, 130)}, "hierarchies": {"a": UNBALANCED}}
    if name == "weights":
        columns = {"a": rng.integers(0, 50, 120), "b": rng.choice(list("abcd"), 120), "c": rng.integers(0, 5, 120)}
        return {"columns": columns, "weights": {"a": 3.5, "b": 0.0, "c": 0.01}}
    if name == "deep trees":
        columns = {
            "zip": [f"{number:05d}" for number in rng.integers(10_000, 10_400, 180)],
            "ill": rng.choice(list("abcdefghi"), 180),
            "age": rng.integers(0, 90, 180),
        }
        ages = {"intervals": {"width": 5, "levels": [1, 2, 4, 8]}}
        return {"columns": columns, "hierarchies": {"zip": {"prefix": [5, 4, 3, 2]}, "ill": UNBALANCED, "age": ages}}
    if name == "dates":
        days = [dt.date(1950, 1, 1) + dt.timedelta(int(days)) for days in rng.integers(0, 20_000, 140)]
        columns = {"born": days, "seen": [days[(7 * i) % 140] for i in range(140)]}
        return {"columns": columns, "hierarchies": {"seen": {"dates": ["month", "year", "decade"]}}}
    assert name == "mixed"
    return {"columns": mixed(rng, 310), "hierarchies": {"c": UNBALANCED}}


def mixed(rng, n):
    """Numbers, texts, and texts with a hierarchy."""
    return {
        "a": rng.normal(size=n).round(2),
        "b": rng.choice(list("uvw"), n),
        "c": rng.choice(list("abcdefghi"), n),
    }


def _with_gaps(rng, values):
    return [None if gap else value for value, gap in zip(values, rng.random(len(values)) < 0.2, strict=True)]
