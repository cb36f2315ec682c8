"""Incognito: the same minimal nodes and the same choice as a look at every node of the lattice."""

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS, incognito
from kohort.codes.encode import Codes, LineAxis, encode
from kohort.codes.levels import ladder_of
from kohort.errors import InfeasibleError, PolicyError
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_boxes
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from property.strategies import cases


def encoded(frame, policy):
    return encode(typed_quasi_identifiers(frame, policy), policy)


def numbers(*columns, **hierarchies):
    frame = pl.DataFrame({f"c{j}": column for j, column in enumerate(columns)})
    return encoded(frame, Policy.build(k=2, quasi_identifiers=frame.columns, hierarchies=hierarchies))


def task_of(codes, k, allowance=0, measure="ncp", progress=lambda share: None):
    measure = MEASURES.make(measure, {})
    costs = compile_costs(measure, codes.axes)
    return Task(codes, measure, costs, k, np.random.default_rng(3), progress, allowance=allowance)


def found(task, **parameters):
    """All minimal nodes, and the solution."""
    algorithm = ALGORITHMS.make("incognito", parameters)
    ladders = [ladder_of(axis) for axis in task.codes.axes]
    return algorithm.minimal_nodes(task, ladders), algorithm.solve(task)


def levels_of(solution):
    return tuple(int(text.split(" of ")[0]) for text in solution.facts["levels"].values())


class Lattice:
    """Every node, looked at record by record."""

    def __init__(self, task):
        self.task, self.codes = task, task.codes
        self.ladders = [ladder_of(axis) for axis in task.codes.axes]

    def kept(self, node):
        groups = [ladder.groups[level].tolist() for ladder, level in zip(self.ladders, node, strict=True)]
        rows = [tuple(groups[j][code] for j, code in enumerate(row)) for row in self.codes.array.tolist()]
        sizes = Counter(rows)
        return np.array([sizes[row] >= self.task.k for row in rows])

    def minimal(self):
        nodes = product(*(range(ladder.top + 1) for ladder in self.ladders))
        kept = {node: self.kept(node) for node in nodes}
        good = {node for node in kept if kept[node].any() and (~kept[node]).sum() <= self.task.allowance}
        lower = {
            node: [tuple(level - (i == j) for i, level in enumerate(node)) for j in range(len(node))] for node in good
        }
        return sorted(node for node in good if not good & set(lower[node]))

    def loss(self, node):
        kept = self.kept(node)
        spans = [ladder.spans(level) for ladder, level in zip(self.ladders, node, strict=True)]
        array = self.codes.array[kept]
        lo = np.column_stack([span.lo[array[:, j]] for j, span in enumerate(spans)])
        hi = np.column_stack([span.hi[array[:, j]] for j, span in enumerate(spans)])
        suppressed = int((~kept).sum())
        return loss_of_boxes(self.task.measure, Codes(array, self.codes.axes), lo, hi, suppressed).total

    def best(self, nodes):
        losses = [self.loss(node) for node in nodes]
        return next(node for node, loss in zip(nodes, losses, strict=True) if loss < min(losses) + 1e-9)


@pytest.mark.parametrize("measure", ["ncp", "path"])
@given(case=cases(max_rows=25), share=st.sampled_from([0, 0, 0.1, 0.3, 0.6, 1]))
@settings(max_examples=60, deadline=None)
def test_same_nodes_as_a_look_at_the_whole_lattice(measure, case, share):
    frame, policy = case
    codes = encoded(frame, policy)
    task = task_of(codes, policy.privacy.k, int(share * frame.height), measure)
    lattice = Lattice(task)
    nodes, solution = found(task)
    assert nodes == lattice.minimal()
    node = lattice.best(nodes)
    assert levels_of(solution) == node
    _check(task, lattice, node, solution)


def _check(task, lattice, node, solution):
    """The solution is the node: its classes, its suppressed records, and no interval wider than needed."""
    codes, kept = task.codes, lattice.kept(node)
    np.testing.assert_array_equal(kept if solution.kept is None else solution.kept, kept)
    assert solution.suppressed <= task.allowance
    lo, hi = solution.boxes.lo[kept], solution.boxes.hi[kept]
    assert ((lo <= codes.array[kept]) & (codes.array[kept] <= hi)).all()
    sizes = Counter(map(tuple, np.column_stack([lo, hi]).tolist()))
    assert min(sizes.values()) >= task.k
    assert len(sizes) == solution.clusters
    for j, axis in enumerate(codes.axes):
        if isinstance(axis, LineAxis):
            assert set(lo[:, j]) | set(hi[:, j]) <= set(codes.array[kept, j]), "both ends are published values"


def test_by_hand():
    """Either everybody's age or everybody's sex has to go."""
    codes = numbers([1, 1, 2, 2, 3, 3], list("ffmmfm"))
    nodes, solution = found(task_of(codes, 2))
    assert nodes == [(0, 1), (1, 0)]
    assert levels_of(solution) == (0, 1)
    assert solution.clusters == 3


def test_suppression_by_hand():
    """Without the one who is 9 the table is 2-anonymous as it is."""
    codes = numbers([1, 1, 2, 2, 9])
    assert found(task_of(codes, 2))[0] == [(2,)]
    nodes, solution = found(task_of(codes, 2, allowance=1))
    assert nodes == [(0,)]
    assert solution.kept.tolist() == [True] * 4 + [False]


def test_somebody_is_published_whatever_may_be_suppressed():
    """All values differ, and all records might go: two of them are brought together instead."""
    nodes, solution = found(task_of(numbers([1, 20, 40, 60, 80, 83]), 2, allowance=6))
    assert nodes == [(1,)]
    assert solution.kept.tolist() == [False] * 4 + [True] * 2


def test_ties_go_to_the_lowest_level_of_the_first_column():
    codes = numbers([0, 0, 1, 1], [0, 1, 0, 1])
    nodes, solution = found(task_of(codes, 2))
    assert nodes == [(0, 1), (1, 0)]
    assert levels_of(solution) == (0, 1)


def test_weights_decide():
    frame = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    policy = Policy.build(k=2, quasi_identifiers=["a", "b"])
    light = policy.model_copy(
        update={"columns": policy.columns | {"a": policy.columns["a"].model_copy(update={"weight": 0.5})}}
    )
    assert levels_of(found(task_of(encoded(frame, light), 2))[1]) == (1, 0)


def test_a_column_with_one_value_is_left_alone():
    nodes, solution = found(task_of(numbers([5] * 6, [1, 1, 1, 2, 2, 2]), 3))
    assert nodes == [(0, 0)]
    assert solution.clusters == 2


@pytest.mark.slow
def test_many_columns():
    """A lattice of 4^24 nodes, almost all of which are ruled out by three columns."""
    rng = np.random.default_rng(8)
    task = task_of(numbers(*(rng.integers(0, 6, 90) for _ in range(24))), 4)
    nodes, solution = found(task)
    lattice = Lattice(task)
    assert {min(lattice.kept(node)) for node in nodes} == {True}
    for node in nodes[::40]:
        for j, level in enumerate(node):
            assert level == 0 or not lattice.kept((*node[:j], level - 1, *node[j + 1 :])).all()
    assert levels_of(solution) == lattice.best(nodes)


def test_without_room_for_frequency_sets_it_is_the_same(monkeypatch):
    rng = np.random.default_rng(4)
    task = task_of(numbers(*(rng.integers(0, 40, 300) for _ in range(4))), 5)
    nodes, _ = found(task)
    monkeypatch.setattr(incognito, "ROOM", 0)
    assert found(task)[0] == nodes
    assert len(nodes) > 5


def test_progress_is_told():
    shares = []
    rng = np.random.default_rng(4)
    found(task_of(numbers(*(rng.integers(0, 40, 300) for _ in range(3))), 5, progress=shares.append))
    assert shares[-1] == 1
    assert len(set(shares)) > 5
    one_run = shares[: shares.index(1.0)]
    assert one_run == sorted(one_run)


def test_too_much_work_is_refused_with_an_estimate():
    rng = np.random.default_rng(4)
    task = task_of(numbers(*(rng.integers(0, 64, 3000) for _ in range(3))), 2)
    rows = len(task.codes.distinct.counts)
    with pytest.raises(InfeasibleError, match=rf"18 combinations of levels of 1 column with {rows:,} distinct rows"):
        found(task, limit=18 * rows - 1)
    with pytest.raises(InfeasibleError, match=r"108 combinations of levels of 2 columns .* use 'datafly'"):
        found(task, limit=126 * rows - 1)
    found(task, limit=(126 + 216) * rows)


def test_a_release_with_suppressed_records_is_verified():
    rng = np.random.default_rng(6)
    frame = pl.DataFrame(
        {"age": rng.integers(18, 90, 400), "sex": rng.choice(["f", "m", None], 400, p=[0.5, 0.4, 0.1]).tolist()}
    )
    policy = Policy.build(k=5, quasi_identifiers=["age", "sex"], algorithm="incognito")
    policy = policy.with_changes("privacy", suppression_limit=0.05)
    release = kohort.anonymize(frame, policy)
    assert release.verdict.passed
    assert 0 < frame.height - release.table.height <= 20


@pytest.mark.parametrize("limit", [0, -5, 1.5, True, "much"])
def test_wrong_parameters(limit):
    with pytest.raises(PolicyError, match=f"'limit' must be an integer of at least 1; got {limit!r}"):
        ALGORITHMS.make("incognito", {"limit": limit})
