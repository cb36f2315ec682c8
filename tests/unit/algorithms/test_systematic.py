"""Systematic clustering: the same partition as the plain loop over records, on any table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.tasks import assert_only_the_seed_decides, assert_steps_do_not_matter, cluster, costs_of, encoded, numbers
from kohort.algorithms import ALGORITHMS
from kohort.errors import PolicyError
from kohort.measures import MEASURES
from oracles.plain_kmember import dense_tables
from property.strategies import cases


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
    codes, k = encoded(frame, policy), policy.privacy.k
    costs = costs_of(codes, measure, wide=wide)
    np.testing.assert_array_equal(cluster("systematic", codes, k, costs=costs), plain(codes, costs, k))


@given(seed=st.integers(0, 99), k=st.integers(2, 7))
@settings(max_examples=15, deadline=None)
def test_same_partition_where_rows_repeat(seed, k):
    """Copies are placed together; the plain loop places them one by one."""
    codes = numbers(np.random.default_rng(seed).integers(0, 3, (60, 2)))
    np.testing.assert_array_equal(cluster("systematic", codes, k), plain(codes, costs_of(codes), k))


def test_one_seed_per_block_at_the_same_place():
    """With values this far apart every block stays together, except for the left-overs."""
    codes = numbers(np.repeat(np.arange(5) * 1000, 4)[:, None] + np.tile(np.arange(4), 5)[:, None])
    np.testing.assert_array_equal(cluster("systematic", codes, 4), np.repeat(np.arange(5), 4))


def test_sizes_are_k_except_for_left_overs():
    codes = numbers(np.random.default_rng(1).integers(0, 50, (1003, 3)))
    sizes = np.bincount(cluster("systematic", codes, 10))
    assert len(sizes) == 100
    assert sizes.min() == 10
    assert sizes.sum() == 1003


def test_calls_of_the_kernel_do_not_change_the_result(monkeypatch):
    assert_steps_do_not_matter(monkeypatch, "systematic", {"STEP": 1000})


def test_all_equal_rows():
    codes = numbers(np.zeros((25, 2), np.int64))
    assert sorted(np.bincount(cluster("systematic", codes, 4))) == [4, 4, 4, 4, 4, 5]


def test_row_order_does_not_matter_and_seeds_do():
    assert_only_the_seed_decides("systematic")


def test_wrong_parameters():
    with pytest.raises(PolicyError, match="has no parameter 'far_from'; it has none"):
        ALGORITHMS.make("systematic", {"far_from": "seed"})
