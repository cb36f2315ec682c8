"""What every algorithm of the registry must keep, whoever wrote it."""

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.algorithms import ALGORITHMS, Task
from kohort.encode import encode
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_boxes
from kohort.policy import Policy
from kohort.solution import boxes_of_labels
from kohort.table import typed_quasi_identifiers

K = 4


def _table(name):
    rng = np.random.default_rng(8)
    return {
        "n = k": lambda: {"a": [1, 2, 3, 4], "b": list("xyzx")},
        "n = 2k - 1": lambda: {"a": [3, 1, 4, 1, 5, 9, 2]},
        "n = 2k": lambda: {"a": [3, 1, 4, 1, 5, 9, 2, 6], "b": list("aabbccdd")},
        "all equal": lambda: {"a": [5] * 22, "b": ["x"] * 22},
        "two values": lambda: {"a": [0] * 3 + [1] * 30},
        "one column": lambda: {"a": rng.integers(0, 1000, 150)},
        "one category": lambda: {"a": rng.choice(list("abcdefgh"), 101)},
        "heavy ties": lambda: {f"c{i}": rng.integers(0, 2, 203) for i in range(3)},
        "no duplicates": lambda: {"a": rng.permutation(203), "b": rng.permutation(203)},
        "many columns": lambda: {f"c{i}": rng.integers(0, 6, 90) for i in range(24)},
        "missing": lambda: {"a": [None if x < 3 else int(x) for x in rng.integers(0, 20, 97)], "b": [None] * 97},
        "mixed": lambda: {"a": rng.normal(size=310).round(2), "b": rng.choice(list("abc"), 310)},
    }[name]()


TABLES = [
    "n = k", "n = 2k - 1", "n = 2k", "all equal", "two values", "one column", "one category", "heavy ties",
    "no duplicates", "many columns", "missing", "mixed",
]  # fmt: skip


def task_of(frame, k=K, seed=5):
    policy = Policy.build(k=k, quasi_identifiers=frame.columns)
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    measure = MEASURES.make("ncp", {})
    shares = []
    task = Task(codes, measure, compile_costs(measure, codes.axes), k, np.random.default_rng(seed), shares.append)
    return task, shares


@pytest.fixture(params=list(ALGORITHMS))
def algorithm(request):
    return ALGORITHMS.make(request.param, {})


@pytest.mark.parametrize("table", TABLES)
def test_labels(algorithm, table):
    frame = pl.DataFrame(_table(table))
    task, shares = task_of(frame)
    before = task.codes.array.copy()
    labels = algorithm.cluster(task)
    sizes = np.bincount(labels)
    assert labels.shape == (frame.height,)
    assert labels.dtype == np.int32
    assert sizes.min() >= K, "labels are 0, 1, 2, ... and every cluster has k records"
    np.testing.assert_array_equal(task.codes.array, before)
    assert all(0 <= share <= 1 for share in shares)
    again = algorithm.cluster(task_of(frame)[0])
    np.testing.assert_array_equal(labels, again)


def test_a_release_is_verified(algorithm):
    frame = pl.DataFrame(_table("mixed"))
    policy = Policy.build(k=K, quasi_identifiers=frame.columns, algorithm=algorithm.name, seed=1)
    assert kohort.anonymize(frame, policy).verdict.passed


def test_facts_are_told(algorithm):
    for fact in ("summary", "paper", "recoding", "guarantee", "complexity"):
        assert getattr(algorithm, fact)
    assert "k-anonymity" in algorithm.enforces
    assert algorithm.__doc__


def best_loss(task):
    """The least loss of any partition, over all subsets of the records."""
    n = len(task.codes.array)
    cost = {}
    for subset in range(1, 2**n):
        members = [i for i in range(n) if subset >> i & 1]
        if len(members) >= task.k:
            rows = task.codes.array[members]
            boxes = boxes_of_labels(rows, np.zeros(len(rows), np.int32))
            part = type(task.codes)(rows, task.codes.axes)
            cost[subset] = len(rows) * loss_of_boxes(task.measure, part, boxes.lo, boxes.hi).total
    best = {0: 0.0}
    for subset in range(1, 2**n):
        lowest = subset & -subset
        options = [
            cost[part] + best[subset ^ part]
            for part in cost
            if part & lowest and part & subset == part and (subset ^ part) in best
        ]
        if options:
            best[subset] = min(options)
    return best[2**n - 1] / n


SMALL = {"a": [1, 2, 8, 9, 20, 21, 5, 3], "b": list("xxyyxyxy")}


@pytest.fixture(scope="module")
def optimum():
    return best_loss(task_of(pl.DataFrame(SMALL), k=3)[0])


def test_never_below_the_optimum(algorithm, optimum, record_property):
    """The ratio to the optimum is reported; no algorithm can be below it."""
    task, _ = task_of(pl.DataFrame(SMALL), k=3)
    boxes = boxes_of_labels(task.codes.array, algorithm.cluster(task))
    loss = loss_of_boxes(task.measure, task.codes, boxes.lo, boxes.hi).total
    record_property("ratio to the optimum", loss / optimum)
    assert loss >= optimum - 1e-12
