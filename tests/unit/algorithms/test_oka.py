"""One-pass k-means: the same partition as the plain loop over records; never fewer than k, none lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.tasks import assert_only_the_seed_decides, assert_steps_do_not_matter, cluster, costs_of, encoded, numbers
from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import LineAxis
from kohort.errors import PolicyError
from kohort.measures import MEASURES
from oracles.plain_kmember import dense_tables
from property.strategies import cases


def plain(codes, costs, k, seed=3):
    """The page's pseudocode, on lists of records; each centre is worked out from its members."""
    order = codes.distinct.order
    records, tables = codes.array[order].astype(int), dense_tables(costs)
    n = len(records)

    def column_distance(members, record, axis):
        values, code = records[members, axis].tolist(), int(records[record, axis])
        if not isinstance(codes.axes[axis], LineAxis):
            mode = min(values, key=lambda value: (-values.count(value), value))
            return int(tables[axis, mode, code])
        missing = codes.axes[axis].missing_code
        positions = [int(costs.flat[costs.offset[axis] + value]) for value in values if value != missing]
        if (code == missing) != (not positions):
            return int(costs.full[axis])
        return (
            0 if code == missing else abs(int(costs.flat[costs.offset[axis] + code]) - sum(positions) // len(positions))
        )

    def distance(members, record):
        return sum(column_distance(members, record, axis) for axis in range(records.shape[1]))

    seeds = sorted(np.random.default_rng(seed).choice(n, n // k, replace=False).tolist())
    clusters = [[record] for record in seeds]
    for record in range(n):
        if record not in seeds:
            min(clusters, key=lambda members: distance(members, record)).append(record)
    surplus = []
    for index, members in enumerate(clusters):
        ranked = sorted(members, key=lambda record: (distance(members, record), record))
        clusters[index] = sorted(ranked[:k])
        surplus += ranked[k:]
    for record in sorted(surplus):
        vacant = [members for members in clusters if len(members) < k] or clusters
        min(vacant, key=lambda members: distance(members, record)).append(record)
    labels = np.empty(n, np.int32)
    for label, members in enumerate(clusters):
        labels[order[members]] = label
    return labels


@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("wide", [False, True], ids=["tables", "ranges"])
@given(case=cases(max_rows=40))
@settings(max_examples=15, deadline=None)
def test_same_partition_as_the_plain_loop(measure, wide, case):
    frame, policy = case
    codes, k = encoded(frame, policy), policy.privacy.k
    costs = costs_of(codes, measure, wide=wide)
    np.testing.assert_array_equal(cluster("oka", codes, k, costs=costs), plain(codes, costs, k))


@given(seed=st.integers(0, 99), k=st.integers(2, 7))
@settings(max_examples=15, deadline=None)
def test_same_partition_where_rows_repeat(seed, k):
    """Copies are placed together; the plain loop places them one by one."""
    codes = numbers(np.random.default_rng(seed).integers(0, 3, (60, 2)))
    np.testing.assert_array_equal(cluster("oka", codes, k), plain(codes, costs_of(codes), k))


@given(n=st.integers(2, 120), k=st.integers(2, 12), spread=st.sampled_from([1, 2, 1000]), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_no_cluster_below_k_and_no_record_lost(n, k, spread, seed):
    """The public implementation breaks both."""
    k = min(k, n)
    codes = numbers(np.random.default_rng(seed).integers(0, spread, (n, 2)))
    labels = cluster("oka", codes, k, seed=seed)
    sizes = np.bincount(labels, minlength=n // k)
    assert labels.min() == 0
    assert len(sizes) == n // k
    assert sizes.min() >= k


def test_calls_of_the_kernel_do_not_change_the_result(monkeypatch):
    assert_steps_do_not_matter(monkeypatch, "oka", {"STEP": 1000})


def test_all_equal_rows():
    """All records join the first cluster, and the others are filled from it."""
    codes = numbers(np.zeros((25, 2), np.int64))
    assert np.bincount(cluster("oka", codes, 4)).tolist() == [5, 4, 4, 4, 4, 4]


def test_row_order_does_not_matter_and_seeds_do():
    assert_only_the_seed_decides("oka")


def test_wrong_parameters():
    with pytest.raises(PolicyError, match="has no parameter 'centre'; it has none"):
        ALGORITHMS.make("oka", {"centre": "mode"})
