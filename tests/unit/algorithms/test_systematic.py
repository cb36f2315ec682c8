"""Systematic clustering: the same partition as the plain loop over records, on any table."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.algorithms import ALGORITHMS, Task
from kohort.encode import encode
from kohort.errors import PolicyError
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases


def cluster(codes, costs, k, seed=3, progress=lambda share: None):
    task = Task(codes, MEASURES.make("ncp", {}), costs, k, np.random.default_rng(seed), progress)
    return ALGORITHMS.make("systematic", {}).cluster(task)


def numbers(array):
    frame = pl.DataFrame(array, schema=[f"c{i}" for i in range(array.shape[1])], orient="row")
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    return codes, compile_costs(MEASURES.make("ncp", {}), codes.axes)


def plain(codes, costs, k, seed=3):
    """The page's pseudocode, on lists of records, with no box kept and nothing cut short."""
    order = codes.distinct.order
    records, tables = codes.array[order].astype(int), dense_tables(costs)
    axes = range(records.shape[1])
    n = len(records)

    def loss(members):
        rows = records[members]
        return len(members) * sum(int(tables[axis, rows[:, axis].min(), rows[:, axis].max()]) for axis in axes)

    offset = np.random.default_rng(seed).integers(k)
    clusters = [[block * k + offset] for block in range(n // k)]
    seeds = {members[0] for members in clusters}
    for record in range(n):
        if record in seeds:
            continue
        having_room = [members for members in clusters if len(members) < k] or clusters
        min(having_room, key=lambda members: loss([*members, record]) - loss(members)).append(record)
    labels = np.empty(n, np.int32)
    for label, members in enumerate(clusters):
        labels[order[members]] = label
    return labels


@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("wide", [False, True], ids=["tables", "ranges"])
@given(case=cases(max_rows=50))
@settings(max_examples=15, deadline=None)
def test_same_partition_as_the_plain_loop(measure, wide, case):
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    with pytest.MonkeyPatch.context() as patch:
        if wide:  # as if every taxonomy were a large one
            patch.setattr(compile, "TABLE_LIMIT", 0)
        costs = compile_costs(MEASURES.make(measure, {}), codes.axes)
    k = policy.privacy.k
    np.testing.assert_array_equal(cluster(codes, costs, k), plain(codes, costs, k))


@given(seed=st.integers(0, 99), k=st.integers(2, 7))
@settings(max_examples=15, deadline=None)
def test_same_partition_where_rows_repeat(seed, k):
    """Copies are placed together; the plain loop places them one by one."""
    codes, costs = numbers(np.random.default_rng(seed).integers(0, 3, (60, 2)))
    np.testing.assert_array_equal(cluster(codes, costs, k), plain(codes, costs, k))


def test_one_seed_per_block_at_the_same_place():
    """With values this far apart every block stays together, except for the left-overs."""
    codes, costs = numbers(np.repeat(np.arange(5) * 1000, 4)[:, None] + np.tile(np.arange(4), 5)[:, None])
    np.testing.assert_array_equal(cluster(codes, costs, 4), np.repeat(np.arange(5), 4))


def test_sizes_are_k_except_for_left_overs():
    codes, costs = numbers(np.random.default_rng(1).integers(0, 50, (1003, 3)))
    sizes = np.bincount(cluster(codes, costs, 10))
    assert len(sizes) == 100
    assert sizes.min() == 10
    assert sizes.sum() == 1003


def test_calls_of_the_kernel_do_not_change_the_result(monkeypatch):
    from kohort.algorithms import systematic

    codes, costs = numbers(np.random.default_rng(1).integers(0, 9, (500, 3)))
    whole, shares = cluster(codes, costs, 6), []
    monkeypatch.setattr(systematic, "STEP", 1000)
    np.testing.assert_array_equal(cluster(codes, costs, 6, progress=shares.append), whole)
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 2), (5, 3), (5, 5), (9, 5), (1, 1), (4, 1)])
def test_tiny_tables(n, k):
    codes, costs = numbers(np.arange(n)[:, None])
    sizes = np.bincount(cluster(codes, costs, k))
    assert len(sizes) == n // k
    assert sizes.min() >= k
    assert sizes.sum() == n


def test_all_equal_rows():
    codes, costs = numbers(np.zeros((25, 2), np.int64))
    assert sorted(np.bincount(cluster(codes, costs, 4))) == [4, 4, 4, 4, 4, 5]


def test_row_order_does_not_matter_and_seeds_do():
    array = np.random.default_rng(2).integers(0, 9, (200, 3))
    mixed = np.random.default_rng(3).permutation(200)

    def classes(array, seed):
        labels = cluster(*numbers(array), 5, seed)
        return sorted(sorted(map(tuple, array[labels == label].tolist())) for label in range(labels.max() + 1))

    assert classes(array, 1) == classes(array[mixed], 1)
    assert classes(array, 1) != classes(array, 2)


def test_wrong_parameters():
    with pytest.raises(PolicyError, match="has no parameter 'far_from'; it has none"):
        ALGORITHMS.make("systematic", {"far_from": "seed"})
