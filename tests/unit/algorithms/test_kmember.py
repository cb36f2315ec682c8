"""Greedy k-member: the same partition as the plain loop, on any table."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import encode
from kohort.errors import PolicyError
from kohort.kernels.search import scan
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_columns, typed_quasi_identifiers
from oracles.plain_kmember import dense_tables, plain_kmember, plain_kmember_with_class
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


@pytest.mark.slow
def test_many_columns_and_many_distinct_values():
    """Twenty continuous columns without a single repeated value."""
    rng = np.random.default_rng(2)
    codes = _numbers(rng.permuted(np.tile(np.arange(9_000), (20, 1)), axis=1).T)
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
        ({"class_penalty": -1}, "'class_penalty' must be a number from 0 to 1000; got -1"),
        ({"class_penalty": float("nan")}, "'class_penalty' must be a number"),
        ({"class_penalty": True}, "'class_penalty' must be a number"),
        ({"column": "ill"}, "'column' is for a 'class_penalty' above 0"),
    ],
)
def test_wrong_parameters(parameters, sentence):
    with pytest.raises(PolicyError, match=sentence):
        ALGORITHMS.make("k-member", parameters)


def _numbers(array):
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


# -- class penalty ---------------------------------------------------------------------------------


def with_class(frame, policy, penalty, seed=3, **parameters):
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    sensitive = encode(typed_columns(frame, policy, "sensitive"), policy, "sensitive")
    made = MEASURES.make("ncp", {})
    rng = np.random.default_rng(seed)
    costs = compile_costs(made, codes.axes)
    task = Task(codes, made, costs, policy.privacy.k, rng, lambda share: None, sensitive)
    return task, ALGORITHMS.make("k-member", {"class_penalty": penalty} | parameters).cluster(task)


@pytest.mark.parametrize("far_from", ["last", "seed"])
@pytest.mark.parametrize("penalty", [0.25, 1.0, 40])
@given(case=cases(max_rows=60))
@settings(max_examples=40, deadline=None)
def test_with_a_class_penalty_same_partition_as_the_plain_loop(penalty, far_from, case):
    frame, policy = case
    task, labels = with_class(frame, policy, penalty, far_from=far_from)
    classes = task.sensitive.array[:, 0]
    order = np.lexsort((classes, *task.codes.array.T[::-1]))
    drawn = np.random.default_rng(3).integers(frame.height)
    expected = plain_kmember_with_class(
        task.codes.array[order], dense_tables(task.costs), policy.privacy.k, drawn, far_from == "seed",
        classes[order].astype(np.int64), math.ceil(penalty * int(task.costs.full.max())),
    )  # fmt: skip
    np.testing.assert_array_equal(labels[order], expected)


def people(rng, n=400):
    frame = pl.DataFrame({"age": rng.integers(0, 60, n), "sex": rng.choice(["f", "m"], n)})
    return frame.with_columns(pay=pl.Series(rng.choice(["low", "high"], n)), ill=pl.Series(rng.choice(list("abc"), n)))


def test_a_class_penalty_makes_classes_alike_and_says_so():
    frame = people(np.random.default_rng(4)).drop("ill")
    shares, losses, errors = [], [], []
    for penalty in (0.0, 0.2, 5.0):
        chosen = {"name": "k-member", "class_penalty": penalty}
        policy = Policy.build(k=5, quasi_identifiers=["age", "sex"], sensitive=["pay"], algorithm=chosen, seed=2)
        release = kohort.anonymize(frame, policy)
        figures = kohort.describe(release.table, frame, policy)
        assert release.facts.get("records_in_classes_of_one_value", figures["homogeneity"]["pay"]) == pytest.approx(
            figures["homogeneity"]["pay"]
        )
        assert bool(release.facts) == (penalty > 0)
        shares.append(figures["homogeneity"]["pay"])
        errors.append(figures["classification"]["pay"])
        losses.append(release.loss.total)
    assert shares == sorted(shares)
    assert losses == sorted(losses)
    assert errors == sorted(errors, reverse=True)
    assert shares[-1] > 0.9


def test_the_class_is_the_column_that_is_named():
    frame = people(np.random.default_rng(5))
    policy = Policy.build(k=5, quasi_identifiers=["age", "sex"], sensitive=["pay", "ill"])
    one, other = (with_class(frame, policy, 2, column=column)[1] for column in ("pay", "ill"))
    assert (one != other).any()


@pytest.mark.parametrize(
    ("parameters", "sensitive", "sentence"),
    [
        ({"class_penalty": 1}, [], "works on one sensitive column and the policy has 0"),
        ({"class_penalty": 1}, ["pay", "ill"], "works on one sensitive column and the policy has 2"),
        ({"class_penalty": 1, "column": "age"}, ["pay", "ill"], "column 'age' is not a sensitive column"),
    ],
)
def test_a_class_penalty_needs_one_sensitive_column(parameters, sensitive, sentence):
    frame = people(np.random.default_rng(6), 20).select("age", *sensitive)
    policy = Policy.build(
        k=5, quasi_identifiers=["age"], sensitive=sensitive, algorithm={"name": "k-member"} | parameters
    )
    with pytest.raises(PolicyError, match=sentence):
        kohort.anonymize(frame, policy)


def test_without_a_penalty_no_sensitive_column_is_needed():
    frame = people(np.random.default_rng(7), 30).select("age", "sex")
    policy = Policy.build(k=5, quasi_identifiers=["age", "sex"], seed=1, algorithm="k-member")
    assert kohort.anonymize(frame, policy).facts == {}
