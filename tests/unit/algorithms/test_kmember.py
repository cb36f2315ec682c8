"""Greedy k-member: the same partition as the plain loop, on any table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.algorithms import ALGORITHMS, Task
from kohort.encode import encode
from kohort.errors import PolicyError
from kohort.kernels import scan
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables, plain_kmember
from property.strategies import cases


def cluster(codes, measure, costs, k, far_from, seed=3):
    algorithm = ALGORITHMS.make("k-member", {"far_from": far_from})
    return algorithm.cluster(Task(codes, measure, costs, k, np.random.default_rng(seed), lambda share: None))


def plain(codes, costs, k, far_from, seed=3):
    rows = codes.distinct
    drawn = np.random.default_rng(seed).integers(len(codes.array))
    first = rows.first[np.searchsorted(rows.first, drawn, side="right") - 1]
    labels = plain_kmember(codes.array[rows.order], dense_tables(costs), k, first, far_from == "seed")
    by_record = np.empty_like(labels)
    by_record[rows.order] = labels
    return by_record


@pytest.mark.parametrize("far_from", ["last", "seed"])
@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("wide", [False, True], ids=["tables", "ranges and subtraction"])
@given(case=cases(max_rows=60))
@settings(max_examples=25, deadline=None)
def test_same_partition_as_the_plain_loop(far_from, measure, wide, case):
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    made = MEASURES.make(measure, {})
    with pytest.MonkeyPatch.context() as patch:
        if wide:  # as if every taxonomy and every line were a large one
            patch.setattr(compile, "TABLE_LIMIT", 0)
            patch.setattr(scan, "LINE_LIMIT", 0)
        costs = compile_costs(made, codes.axes)
        labels = cluster(codes, made, costs, policy.privacy.k, far_from)
    np.testing.assert_array_equal(labels, plain(codes, costs, policy.privacy.k, far_from))


def test_sizes_are_k_except_for_left_overs():
    rng = np.random.default_rng(1)
    codes = _numbers(rng.integers(0, 50, (1003, 3)))
    made = MEASURES.make("ncp", {})
    sizes = np.bincount(cluster(codes, made, compile_costs(made, codes.axes), 10, "last"))
    assert len(sizes) == 100
    assert sizes.min() == 10
    assert sizes.sum() == 1003
    assert (sizes > 10).sum() <= 3


def test_many_columns_and_many_distinct_values():
    """Twenty continuous columns without a single repeated value."""
    rng = np.random.default_rng(2)
    codes = _numbers(rng.permuted(np.tile(np.arange(20_000), (20, 1)), axis=1).T)
    made = MEASURES.make("ncp", {})
    labels = cluster(codes, made, compile_costs(made, codes.axes), 50, "last")
    assert np.bincount(labels).min() >= 50


def test_all_equal_rows():
    codes = _numbers(np.zeros((25, 2), np.int64))
    made = MEASURES.make("ncp", {})
    sizes = np.bincount(cluster(codes, made, compile_costs(made, codes.axes), 4, "last"))
    assert sorted(sizes) == [4, 4, 4, 4, 4, 5]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"far_from": "first"}, "'far_from' must be 'last' or 'seed'"),
        ({"far_form": "last"}, "did you mean 'far_from'"),
    ],
)
def test_wrong_parameters(parameters, sentence):
    with pytest.raises(PolicyError, match=sentence):
        ALGORITHMS.make("k-member", parameters)


def _numbers(array):
    import polars as pl

    from kohort.policy import Policy

    frame = pl.DataFrame(array, schema=[f"c{i}" for i in range(array.shape[1])], orient="row")
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    return encode(typed_quasi_identifiers(frame, policy), policy)


@given(seed=st.integers(0, 3))
@settings(max_examples=3, deadline=None)
def test_same_seed_same_labels(seed):
    rng = np.random.default_rng(5)
    codes = _numbers(rng.integers(0, 9, (300, 4)))
    made = MEASURES.make("ncp", {})
    costs = compile_costs(made, codes.axes)
    first, second = (cluster(codes, made, costs, 7, "seed", seed) for _ in range(2))
    np.testing.assert_array_equal(first, second)
