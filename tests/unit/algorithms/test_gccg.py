"""GCCG and its parallel form: the same partition as the plain loop over records, on any table."""

import os
import threading
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.algorithms import ALGORITHMS, gccg, gccg_parallel
from kohort.codes.encode import encode
from kohort.errors import PolicyError
from kohort.kernels.search import scan
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from oracles import exact
from oracles.plain_kmember import dense_tables
from property.strategies import cases


def cluster(codes, k, name, progress=lambda share: None, measure="ncp", **parameters):
    made = MEASURES.make(measure, {})
    costs = compile_costs(made, codes.axes)
    return ALGORITHMS.make(name, parameters).cluster(
        Task(codes, made, costs, k, np.random.default_rng(), progress),
    )


# -- the plain loops ---------------------------------------------------------------------------


def plain_order(frame, policy, k, numeric_score):
    """Records by score, from the cells themselves; Python's sort is stable."""
    n = frame.height
    scores = [Fraction(0)] * n
    for name in policy.quasi_identifiers:
        number = frame.schema[name] != pl.String and policy.columns[name].hierarchy is None
        count = Counter(frame[name])
        for row, value in enumerate(frame[name]):
            scores[row] += Fraction(count[value], n * (k if number and numeric_score == "freq_over_k" else 1))
    return sorted(range(n), key=lambda row: -scores[row])


def plain_tables(codes):
    """The distance of every two values, as fractions; where no fixed point is exact, as it is compiled."""
    tables = exact.tables("height", codes.axes)
    costs = compile_costs(MEASURES.make("height", {}), codes.axes)
    return tables if exact.are_proportional(costs, tables) else list(dense_tables(costs))


def plain_nearest(codes, tables, centre, others, wanted):
    def distance(other):
        return sum(table[here, there] for table, here, there in zip(tables, codes[centre], codes[other], strict=True))

    return sorted(others, key=distance)[:wanted]


def plain_gccg(codes, tables, order, k):
    classes = []
    left = list(order)
    for _ in range(len(order) // k - 1):
        centre, *others = left
        members = {centre, *plain_nearest(codes, tables, centre, others, k - 1)}
        classes.append(members)
        left = [record for record in left if record not in members]
    return [*classes, set(left)]


def plain_parts(codes, tables, order, k, largest):
    if len(order) <= largest or len(order) < 2 * k:
        return [order]
    centre, *others = order
    near = {centre, *plain_nearest(codes, tables, centre, others, len(order) // 2 - 1)}
    halves = [r for r in order if r in near], [r for r in order if r not in near]
    return [part for half in halves for part in plain_parts(codes, tables, half, k, largest)]


def partition(labels):
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    return [set(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)]


@pytest.mark.parametrize("wide", [False, True], ids=["tables", "ranges and subtraction"])
@pytest.mark.parametrize("numeric_score", ["freq", "freq_over_k"])
@given(case=cases(max_rows=60), parts=st.sampled_from([1, 2, 3, 4, 7]))
@settings(max_examples=40, deadline=None)
def test_same_partition_as_the_plain_loop(wide, numeric_score, case, parts):
    frame, policy = case
    k = policy.privacy.k
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    with pytest.MonkeyPatch.context() as patch:
        if wide:  # as if every taxonomy and every line were a large one, and every step a small one
            patch.setattr(compile, "TABLE_LIMIT", 0)
            patch.setattr(scan, "LINE_LIMIT", 0)
            patch.setattr(gccg, "WORK", 1)
        tables = plain_tables(codes)
        serial = cluster(codes, k, "gccg", numeric_score=numeric_score)
        parallel = cluster(codes, k, "gccg-parallel", numeric_score=numeric_score, parts=parts)
    order = plain_order(frame, policy, k, numeric_score)
    assert partition(serial) == plain_gccg(codes.array, tables, order, k)
    plain = plain_parts(codes.array, tables, order, k, -(-frame.height // parts))
    assert partition(parallel) == [members for part in plain for members in plain_gccg(codes.array, tables, part, k)]


@pytest.mark.parametrize(
    ("ages", "expected"),
    [
        ([3, 6, 0, 9], [{0, 1}, {2, 3}]),  # 3 is as near to 6 as to 0, and 6 comes first
        ([3, 0, 6, 9], [{0, 1}, {2, 3}]),
        ([0.3, 0.6, 0.0, 0.9], [{0, 1}, {2, 3}]),
        ([30_000, 60_000, 0, 90_007], [{0, 1}, {2, 3}]),  # a range that divides no power of two
        ([1.1, 1.2, 1.0, 1.7], [{0, 1}, {2, 3}]),
    ],
)
def test_ties_are_exact_for_numbers_in_equal_steps(ages, expected):
    frame = pl.DataFrame({"age": ages})
    codes = encode(frame, Policy.build(k=2, quasi_identifiers=["age"]))
    assert partition(cluster(codes, 2, "gccg")) == expected


def test_ties_between_columns_are_exact():
    """A third of one range is as far as two sixths of another, and the record that comes first is taken."""
    frame = pl.DataFrame({"a": [1, 2, 1, 0, 3, 3], "b": [2, 2, 4, 0, 6, 6]})
    policy = Policy.build(k=2, quasi_identifiers=["a", "b"])
    codes = encode(frame, policy)
    tables = exact.tables("height", codes.axes)
    assert exact.are_proportional(compile_costs(MEASURES.make("height", {}), codes.axes), tables)
    order = plain_order(frame, policy, 2, "freq")
    assert partition(cluster(codes, 2, "gccg")) == plain_gccg(codes.array, tables, order, 2)


@given(seed=st.integers(0, 10**6), k=st.integers(2, 9), parts=st.sampled_from([1, 2, 4]))
@settings(max_examples=40, deadline=None)
def test_copies_interleaved_with_other_rows_of_equal_score(seed, k, parts):
    """Many copies, many rows of equal score, many equal distances: only positions decide."""
    values = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    frame = pl.DataFrame(np.random.default_rng(seed).permutation(np.repeat(values, 25, axis=0)), schema=["x", "y"])
    policy = Policy.build(k=k, quasi_identifiers=["x", "y"])
    codes = encode(frame, policy)
    tables = plain_tables(codes)
    order = plain_order(frame, policy, k, "freq")
    assert order == list(range(100))  # all scores are equal
    plain = plain_parts(codes.array, tables, order, k, -(-100 // parts))
    expected = [members for part in plain for members in plain_gccg(codes.array, tables, part, k)]
    assert partition(cluster(codes, k, "gccg-parallel", parts=parts)) == expected


# -- what does not matter, and what does --------------------------------------------------------


@pytest.mark.parametrize("name", ["gccg", "gccg-parallel"])
def test_the_measure_of_the_policy_does_not_matter(name):
    frame, policy = _mixed()
    codes = encode(frame, policy)
    first, *others = (cluster(codes, 4, name, measure=measure) for measure in MEASURES)
    for labels in others:
        np.testing.assert_array_equal(first, labels)


def test_the_number_of_threads_does_not_matter(monkeypatch):
    codes = _numbers(np.random.default_rng(3).integers(0, 9, (3000, 4)))
    monkeypatch.setattr(gccg, "WORK", 2**12)  # many rounds
    labels = []
    for cores in (1, 2, 8, None):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        labels.append(cluster(codes, 7, "gccg-parallel", parts=8))
    for other in labels[1:]:
        np.testing.assert_array_equal(labels[0], other)


def test_parts_run_in_threads_at_the_same_time(monkeypatch):
    """Both steps of a round must have begun before either goes on."""
    meeting = threading.Barrier(2, timeout=20)
    step = gccg.Growth.step

    def waiting(growth):
        meeting.wait()
        step(growth)

    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(gccg.Growth, "step", waiting)
    codes = _numbers(np.arange(40).reshape(20, 2))
    assert np.bincount(cluster(codes, 2, "gccg-parallel", parts=2)).tolist() == [2] * 10


def test_weights_count_in_the_distance():
    frame = pl.DataFrame({"x": [0, 0, 9, 9], "y": [0, 9, 0, 9]})

    def mates(weights):
        policy = Policy.build(k=2, quasi_identifiers=["x", "y"], weights=weights)
        return np.flatnonzero(cluster(encode(frame, policy), 2, "gccg") == 0).tolist()

    assert mates({"x": 3.0}) == [0, 1]
    assert mates({"y": 3.0}) == [0, 2]


# -- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k", "sizes"), [(5, 3, [5]), (6, 3, [3, 3]), (11, 3, [3, 3, 5]), (3, 3, [3])])
def test_sizes_of_a_small_table(n, k, sizes):
    codes = _numbers(np.arange(2 * n).reshape(n, 2))
    assert np.bincount(cluster(codes, k, "gccg")).tolist() == sizes


def test_all_equal_rows():
    assert np.bincount(cluster(_numbers(np.zeros((25, 2), np.int64)), 4, "gccg")).tolist() == [4] * 5 + [5]


@pytest.mark.parametrize(
    ("n", "parts", "k", "sizes"),
    [
        (100, 1, 3, [100]),
        (100, 2, 3, [50, 50]),
        (101, 2, 3, [50, 51]),  # an odd table has two parts, not three
        (100, 3, 3, [25, 25, 25, 25]),  # halves of halves: parts come in powers of two
        (103, 4, 3, [25, 26, 26, 26]),
        (100, 50, 13, [25, 25, 25, 25]),  # halves of 25 would have fewer than 13 records
        (100, 4, 60, [100]),
    ],
)
def test_sizes_of_parts(n, parts, k, sizes):
    codes = _numbers(np.arange(2 * n).reshape(n, 2))
    sets = gccg_parallel.halved(codes, gccg.distance_costs(codes), gccg.graded(codes, k, "freq"), parts, k)
    assert [len(records) for records in sets] == sizes
    assert sorted(np.concatenate(sets).tolist()) == list(range(n))


# -- progress, interruption, parameters ----------------------------------------------------------


@pytest.mark.parametrize("name", ["gccg", "gccg-parallel"])
def test_progress_is_told_and_rises_to_one(monkeypatch, name):
    monkeypatch.setattr(gccg, "WORK", 2**12)
    shares = []
    cluster(_numbers(np.random.default_rng(4).integers(0, 99, (2000, 3))), 5, name, shares.append)
    assert len(shares) > 20
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("name", ["gccg", "gccg-parallel"])
def test_an_interruption_ends_the_work(monkeypatch, name):
    monkeypatch.setattr(gccg, "WORK", 2**12)
    before = threading.active_count()

    def interrupt(share):
        raise KeyboardInterrupt

    codes = _numbers(np.random.default_rng(4).integers(0, 99, (2000, 3)))
    with pytest.raises(KeyboardInterrupt):
        cluster(codes, 5, name, interrupt)
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("gccg", {"numeric_score": "k"}, "'numeric_score' must be 'freq' or 'freq_over_k'"),
        ("gccg", {"parts": 2}, "has no parameter 'parts'"),
        ("gccg-parallel", {"numeric_score": "k"}, "'numeric_score' must be 'freq' or 'freq_over_k'"),
        ("gccg-parallel", {"parts": 0}, "'parts' must be an integer of at least 1; got 0"),
        ("gccg-parallel", {"parts": 2.0}, "'parts' must be an integer of at least 1"),
        ("gccg-parallel", {"parts": True}, "'parts' must be an integer of at least 1"),
        ("gccg-parallel", {"part": 2}, "did you mean 'parts'"),
    ],
)
def test_wrong_parameters(name, parameters, sentence):
    with pytest.raises(PolicyError, match=sentence):
        ALGORITHMS.make(name, parameters)


def _numbers(array):
    frame = pl.DataFrame(array, schema=[f"c{i}" for i in range(array.shape[1])], orient="row")
    return encode(frame, Policy.build(k=2, quasi_identifiers=frame.columns))


def _mixed():
    rng = np.random.default_rng(6)
    tree = {"left": {"low": ["a", "b"], "lower": ["c"]}, "right": ["d", "e", "f", "g"]}
    frame = pl.DataFrame({"age": rng.integers(0, 60, 200), "kind": rng.choice(list("abcdefg"), 200)})
    return frame, Policy.build(k=4, quasi_identifiers=["age", "kind"], hierarchies={"kind": {"tree": tree}})
