"""One-pass k-means: the same partition as the plain loop over records; never fewer than k, none lost."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.algorithms import ALGORITHMS, Task
from kohort.encode import LineAxis, encode
from kohort.errors import PolicyError
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases


def cluster(codes, costs, k, seed=3, progress=lambda share: None):
    task = Task(codes, MEASURES.make("ncp", {}), costs, k, np.random.default_rng(seed), progress)
    return ALGORITHMS.make("oka", {}).cluster(task)


def numbers(array):
    frame = pl.DataFrame(array, schema=[f"c{i}" for i in range(array.shape[1])], orient="row")
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    return codes, compile_costs(MEASURES.make("ncp", {}), codes.axes)


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


@given(n=st.integers(2, 120), k=st.integers(2, 12), spread=st.sampled_from([1, 2, 1000]), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_no_cluster_below_k_and_no_record_lost(n, k, spread, seed):
    """The public implementation breaks both."""
    k = min(k, n)
    codes, costs = numbers(np.random.default_rng(seed).integers(0, spread, (n, 2)))
    labels = cluster(codes, costs, k, seed)
    sizes = np.bincount(labels, minlength=n // k)
    assert labels.min() == 0
    assert len(sizes) == n // k
    assert sizes.min() >= k


def test_calls_of_the_kernel_do_not_change_the_result(monkeypatch):
    from kohort.algorithms import oka

    codes, costs = numbers(np.random.default_rng(1).integers(0, 9, (500, 3)))
    whole, shares = cluster(codes, costs, 6), []
    monkeypatch.setattr(oka, "STEP", 1000)
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
    """All records join the first cluster, and the others are filled from it."""
    codes, costs = numbers(np.zeros((25, 2), np.int64))
    assert np.bincount(cluster(codes, costs, 4)).tolist() == [5, 4, 4, 4, 4, 4]


def test_row_order_does_not_matter_and_seeds_do():
    array = np.random.default_rng(2).integers(0, 9, (200, 3))
    mixed = np.random.default_rng(3).permutation(200)

    def classes(array, seed):
        labels = cluster(*numbers(array), 5, seed)
        return sorted(sorted(map(tuple, array[labels == label].tolist())) for label in range(labels.max() + 1))

    assert classes(array, 1) == classes(array[mixed], 1)
    assert classes(array, 1) != classes(array, 2)


def test_wrong_parameters():
    with pytest.raises(PolicyError, match="has no parameter 'centre'; it has none"):
        ALGORITHMS.make("oka", {"centre": "mode"})
