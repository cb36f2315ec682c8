"""Sequential clustering: exact moves, a total loss that only falls, and an end where no move helps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import tasks
from helpers.tasks import assert_only_the_seed_decides, assert_steps_do_not_matter
from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import encode
from kohort.errors import PolicyError
from kohort.kernels.algorithms import sequential as kernels
from kohort.kernels.boxes import total_loss
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases


def cluster(codes, costs, k, seed=3, progress=lambda share: None, **parameters):
    task = Task(codes, MEASURES.make("ncp", {}), costs, k, np.random.default_rng(seed), progress)
    return ALGORITHMS.make("sequential", parameters).cluster(task)


def compiled(case, measure="ncp"):
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    return codes, compile_costs(MEASURES.make(measure, {}), codes.axes), policy.privacy.k


def numbers(array):
    codes = tasks.numbers(array)
    return codes, tasks.costs_of(codes)


class Judge:
    """Losses worked out from lists of records alone."""

    def __init__(self, array, costs):
        self.array, self.tables = array.astype(int), dense_tables(costs)

    def loss(self, members):
        if not members:
            return 0
        rows = self.array[members]
        sides = zip(self.tables, rows.min(axis=0), rows.max(axis=0), strict=True)
        return len(members) * sum(int(table[lo, hi]) for table, lo, hi in sides)

    def total(self, labels):
        return sum(self.loss(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist()))

    def best_move(self, clusters, record, home):
        """(change of the total loss, cluster) of the best move of a record, the first of equals."""
        leaving = self.loss([other for other in clusters[home] if other != record]) - self.loss(clusters[home])
        changes = [
            (leaving + self.loss([*members, record]) - self.loss(members), label)
            for label, members in enumerate(clusters)
            if label != home and members
        ]
        return min(changes, default=(0, home))


def partition_of(codes, costs, labels):
    partition = kernels.empty_partition(labels.copy(), codes.array.shape[1])
    kernels.gather(codes.array, costs, partition)
    return partition


def lists(labels):
    return [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]


# -- the kernels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", list(MEASURES))
@given(case=cases(max_rows=25), floor=st.sampled_from([0, 2]), seed=st.integers(0, 9))
@settings(max_examples=15, deadline=None)
def test_sweeps_are_those_of_the_plain_loop(measure, case, floor, seed):
    """Three sweeps: the later ones skip what has not changed, and must not skip more."""
    codes, costs, k = compiled(case, measure)
    rng, judge = np.random.default_rng(seed), Judge(codes.array, costs)
    n = len(codes.array)
    start = rng.permutation(n).astype(np.int32) % np.int32(max(1, n // k))
    partition, clusters, labels = partition_of(codes, costs, start), lists(start), start.copy()
    for _ in range(3):
        order = rng.permutation(n)
        before = judge.total(labels)
        moves, saved = kernels.sweep(codes.array, costs, order, floor, partition)
        plain_moves = 0
        for record in order.tolist():
            home = labels[record]
            change, target = judge.best_move(clusters, record, home)
            if len(clusters[home]) > floor and change < 0:
                clusters[home].remove(record)
                clusters[target].append(record)
                labels[record] = target
                plain_moves += 1
        np.testing.assert_array_equal(partition.labels, labels)
        assert moves == plain_moves
        assert total_loss(partition.boxes) == judge.total(labels) == before - saved


@given(case=cases(max_rows=30), seed=st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_small_clusters_are_united_with_the_closest(case, seed):
    codes, costs, k = compiled(case)
    rng, judge = np.random.default_rng(seed), Judge(codes.array, costs)
    start = np.unique(rng.integers(0, 8, len(codes.array)), return_inverse=True)[1].astype(np.int32)
    partition, clusters = partition_of(codes, costs, start), lists(start)
    kernels.merge_small(codes.array, costs, k, 0, len(clusters), partition)
    for label, members in enumerate(clusters):
        others = [other for other in range(len(clusters)) if other != label and clusters[other]]
        if 0 < len(members) < k and others:
            best = min(
                others,
                key=lambda other: judge.loss(members + clusters[other]) - judge.loss(clusters[other]),
            )
            clusters[best] = clusters[best] + members
            clusters[label] = []
    expected = np.empty_like(start)
    for label, members in enumerate(clusters):
        expected[members] = label
    np.testing.assert_array_equal(partition.labels, expected)
    assert total_loss(partition.boxes) == judge.total(expected)
    assert min(len(members) for members in clusters if members) >= k


# -- the algorithm --------------------------------------------------------------------------------


@pytest.mark.slow
@given(case=cases(max_rows=40), seed=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_no_move_helps_at_the_end(case, seed):
    codes, costs, k = compiled(case)
    labels, judge = cluster(codes, costs, k, seed, max_sweeps=10_000), Judge(codes.array, costs)
    clusters = lists(labels)
    assert k <= min(map(len, clusters)) <= max(map(len, clusters)) < 2 * k
    for record, home in enumerate(labels):
        if len(clusters[home]) > k:
            assert judge.best_move(clusters, record, home)[0] >= 0


def start_of(codes, costs, k, seed):
    """The start, drawn again: the first numbers of the generator, on records sorted by short columns first."""
    n = len(codes.array)
    rows = codes.array[codes.distinct.order][:, np.argsort(costs.size, kind="stable")]
    order = codes.distinct.order[np.lexsort(rows[:, ::-1].T)]
    start = np.empty(n, np.int32)
    start[order[np.random.default_rng(seed).permutation(n)]] = np.arange(n) % (n // k)
    return start


@given(case=cases(max_rows=30), seed=st.integers(0, 9), max_sweeps=st.sampled_from([1, 2, 50]))
@settings(max_examples=60, deadline=None)
def test_never_worse_than_its_start(case, seed, max_sweeps):
    codes, costs, k = compiled(case)
    judge = Judge(codes.array, costs)
    labels = cluster(codes, costs, k, seed, max_sweeps=max_sweeps)
    assert judge.total(labels) <= judge.total(start_of(codes, costs, k, seed))
    assert np.bincount(labels).min() >= k


@pytest.mark.parametrize("seed", range(12))
def test_a_lucky_start_is_kept(seed):
    """Four records that the free search pulls together: uniting them costs more than some starts."""
    codes, costs = numbers(np.array([[0, 18], [16, 17], [18, 3], [16, 11]]))
    judge = Judge(codes.array, costs)
    assert judge.total(cluster(codes, costs, 2, seed)) <= judge.total(start_of(codes, costs, 2, seed))


def test_it_finds_groups_that_are_there():
    array = np.repeat(np.arange(20) * 100, 6)[:, None] + np.random.default_rng(1).integers(0, 5, (120, 3))
    labels = cluster(*numbers(array), 6)
    assert [len(set(labels[start : start + 6])) for start in range(0, 120, 6)] == [1] * 20


@given(n=st.integers(20, 150), block=st.integers(1, 60), k=st.integers(2, 9), seed=st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_blocks(n, block, k, seed):
    codes, costs = numbers(np.random.default_rng(seed).integers(0, 30, (n, 2)))
    labels = cluster(codes, costs, k, seed, block=block)
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    assert sizes.sum() == n


def test_a_block_holds_neighbours_by_the_column_with_few_values():
    """Two blocks, one for each value of the second column: no cluster mixes them."""
    rng = np.random.default_rng(4)
    array = np.column_stack([rng.integers(0, 50, 80), np.repeat([0, 1], 40)])
    labels = cluster(*numbers(array), 3, block=40)
    assert not set(labels[:40]) & set(labels[40:])


def test_calls_of_the_kernel_do_not_change_the_result(monkeypatch):
    assert_steps_do_not_matter(monkeypatch, "sequential", {"STEP": 50}, block=100)


def test_all_equal_rows():
    codes, costs = numbers(np.zeros((25, 2), np.int64))
    assert sorted(np.bincount(cluster(codes, costs, 4))) == [4, 4, 4, 4, 4, 5]


def test_two_kinds_of_rows_are_told_apart():
    codes, costs = numbers(np.tile([[0], [1]], (500, 1)))
    labels = cluster(codes, costs, 7)
    assert not set(labels[::2]) & set(labels[1::2])
    assert 7 <= np.bincount(labels).min() <= np.bincount(labels).max() < 14


def test_row_order_does_not_matter_and_seeds_do():
    assert_only_the_seed_decides("sequential", block=100)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"omega": 0.5}, "'omega' must be a number of at least 1; got 0.5"),
        ({"omega": "2"}, "'omega' must be a number of at least 1; got '2'"),
        ({"omega": float("nan")}, "'omega' must be a number of at least 1; got nan"),
        ({"max_sweeps": 0}, "'max_sweeps' must be an integer of at least 1; got 0"),
        ({"block": 2.5}, "'block' must be an integer of at least 1; got 2.5"),
        ({"block": True}, "'block' must be an integer of at least 1; got True"),
        ({"sweeps": 3}, "did you mean 'max_sweeps'"),
    ],
)
def test_wrong_parameters(parameters, sentence):
    with pytest.raises(PolicyError, match=sentence):
        ALGORITHMS.make("sequential", parameters)
