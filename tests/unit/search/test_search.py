"""The search: exact costs, the best cut of an order, and local search that never loses."""

import itertools
import signal
import threading
import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.tasks import costs_of, encoded, numbers
from kohort.codes.encode import Codes
from kohort.kernels.costs import span_cost
from kohort.kernels.search.spans import cost_of, cost_with
from kohort.kernels.search.state import State, gather, loss_of
from kohort.policy import Policy
from kohort.search import spans as spans_module
from kohort.search.order import best_cut, column_order, in_order
from kohort.search.refine import Effort, Search
from kohort.search.spans import places_of, spans_of


def nobody(share, cost):
    pass


def mixed(n, seed=1, missing=True):
    """Codes of a table with lines, taxonomies and missing values."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "a": rng.normal(size=n).round(2),
            "b": rng.choice(list("abcdefg"), n),
            "c": rng.integers(0, 400, n),
            "d": rng.choice(["x1", "x2", "y1", "y2", "y3"], n),
        }
    )
    if missing:
        frame = frame.with_columns(
            pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise(pl.col(name)).alias(name) for name in "abc"
        )
    tree = {"tree": {"x": ["x1", "x2"], "y": ["y1", "y2", "y3"]}}
    return encoded(frame, Policy.build(k=2, quasi_identifiers=frame.columns, hierarchies={"d": tree}))


def loss(codes, costs, labels):
    """The loss of a partition, worked out from nothing but its definition."""
    total = 0
    for label in np.unique(labels):
        rows = codes.array[labels == label]
        sides = zip(rows.min(axis=0), rows.max(axis=0), strict=True)
        total += len(rows) * sum(int(span_cost(costs, axis, lo, hi)) for axis, (lo, hi) in enumerate(sides))
    return total


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("limit", [0, 50, 10_000])
def test_costs_are_those_of_the_kernels(monkeypatch, wide, limit):
    """Whatever way an axis is looked up in: table, line or ranges."""
    monkeypatch.setattr(spans_module, "LINE_LIMIT", limit)
    codes = mixed(300)
    costs = costs_of(codes, wide=wide)
    spans, axes = spans_of(costs)
    places = places_of(codes.array, costs, spans, axes)
    rng = np.random.default_rng(2)
    for _ in range(300):
        some = rng.integers(0, 300, 3)
        lo, hi = codes.array[some].min(axis=0), codes.array[some].max(axis=0)
        expected = sum(int(span_cost(costs, axis, lo[axis], hi[axis])) for axis in range(4))
        low, high = places[some].min(axis=0), places[some].max(axis=0)
        assert cost_of(*spans, low, high) == expected
        first, last = places[some[:2]].min(axis=0), places[some[:2]].max(axis=0)
        assert cost_with(*spans, first, last, places[some[2]]) == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_the_cut_is_the_best_one(k, more, seed):
    n = k + more
    codes = mixed(n, seed)
    costs = costs_of(codes)
    order = in_order(codes.array, [1, 0, 3, 2])
    found, labels = best_cut(codes.array, costs, k, order)
    assert found == loss(codes, costs, labels)
    assert np.bincount(labels).min() >= k
    every = []
    for cuts in itertools.product([False, True], repeat=n - 1):
        runs = np.cumsum([0, *cuts])
        if np.bincount(runs).min() >= k:
            of_record = np.empty(n, int)
            of_record[order] = runs
            every.append(loss(codes, costs, of_record))
    assert found == min(every)


def test_a_cut_in_steps_is_the_same(monkeypatch):
    codes = mixed(500)
    order = in_order(codes.array, [0, 1, 2, 3])
    whole = best_cut(codes.array, costs_of(codes), 5, order)
    monkeypatch.setattr("kohort.search.order.STEP", 70)
    again = best_cut(codes.array, costs_of(codes), 5, order)
    assert whole[0] == again[0]
    np.testing.assert_array_equal(whole[1], again[1])


def test_the_order_of_the_columns_is_never_worse_than_the_first_one():
    codes = mixed(800)
    costs = costs_of(codes)
    first = [int(axis) for axis in np.argsort(costs.size, kind="stable")]
    chosen = column_order(codes.array, np.ones(800, np.int64), costs, 5, np.random.default_rng(1))
    assert sorted(chosen) == [0, 1, 2, 3]
    cut = [best_cut(codes.array, costs, 5, in_order(codes.array, columns))[0] for columns in (first, chosen)]
    assert cut[1] <= cut[0]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([2, 3, 5, 9, 30]), st.integers(0, 150), st.integers(0, 2**32 - 1), st.booleans())
def test_refining_never_loses(k, more, seed, ties):
    n = k + more
    codes = numbers(np.random.default_rng(seed).integers(0, 3, (n, 3))) if ties else mixed(n, seed)
    costs = costs_of(codes)
    rng = np.random.default_rng(seed)
    begun = rng.permutation(n) % max(1, n // (2 * k))  # clusters of 2k and more
    search = Search(codes, costs, k, rng)
    ended = search.refined(begun.astype(np.int32), Effort(50), nobody)
    sizes = np.bincount(ended)
    assert loss(codes, costs, ended) <= loss(codes, costs, begun)
    assert sizes[sizes > 0].min() >= k
    assert sizes.max() < 2 * k


@pytest.mark.parametrize("k", [4, 40])
def test_the_books_are_kept(monkeypatch, k):
    """After many steps the state says what the members say."""
    kept = []
    monkeypatch.setattr("kohort.search.refine.Search._anneal", _remembering(Search._anneal, kept))
    codes = mixed(400)
    costs = costs_of(codes)
    search = Search(codes, costs, k, np.random.default_rng(1), threads=1)
    search.refined(search.start, Effort(200), nobody)
    [state] = kept
    fresh = State(
        state.labels.copy(),
        np.zeros_like(state.members),
        np.zeros_like(state.sizes),
        np.zeros_like(state.cost),
        np.zeros_like(state.ends),
        np.zeros_like(state.broken),
    )
    gather(search._places, search._spans, fresh)
    used = state.sizes > 0
    np.testing.assert_array_equal(state.sizes, fresh.sizes)
    np.testing.assert_array_equal(state.cost[used], fresh.cost[used])
    np.testing.assert_array_equal(state.ends[used], fresh.ends[used])
    for cluster in np.flatnonzero(used):
        size = state.sizes[cluster]
        assert sorted(state.members[cluster, :size]) == np.flatnonzero(state.labels == cluster).tolist()
    assert loss_of(state) == loss(Codes(codes.array[search._order], codes.axes), costs, state.labels)


def _remembering(anneal, kept):
    def remember(self, state, *arguments):
        anneal(self, state, *arguments)
        kept.append(state)

    return remember


@pytest.mark.parametrize("n", [60, 3000])
def test_threads_make_no_difference(n):
    codes = mixed(n)
    ended = []
    for threads in (1, 2, 3):
        search = Search(codes, costs_of(codes), 3, np.random.default_rng(7), threads)
        ended.append(search.refined(search.start, Effort(60), nobody))
    np.testing.assert_array_equal(ended[0], ended[1])
    np.testing.assert_array_equal(ended[0], ended[2])


def test_the_seed_makes_a_difference():
    codes = mixed(600)
    one, other = (
        (search := Search(codes, costs_of(codes), 3, np.random.default_rng(seed))).refined(
            search.start, Effort(30), nobody
        )
        for seed in (1, 2)
    )
    assert (one != other).any()


def test_it_finds_a_partition_that_is_plain_to_see():
    """Four heaps of records far apart, from a start that mixes them all up."""
    rng = np.random.default_rng(5)
    heaps = np.repeat(np.arange(4), 5)
    codes = numbers(np.column_stack([heaps * 1000 + rng.integers(0, 9, 20), heaps * 1000 + rng.integers(0, 9, 20)]))
    search = Search(codes, costs_of(codes), 5, rng)
    ended = search.refined((np.arange(20) % 4).astype(np.int32), Effort(400), nobody)
    assert len({(heap, label) for heap, label in zip(heaps, ended, strict=True)}) == 4


def test_a_time_is_kept():
    codes = mixed(2000)
    search = Search(codes, costs_of(codes), 5, np.random.default_rng(1))
    search.refined(search.start, Effort(1), nobody)  # compiles
    start = time.perf_counter()
    shares = []
    search.refined(search.start, Effort(800, seconds=0.5), lambda share, cost: shares.append(share))
    assert time.perf_counter() - start > 0.4
    assert shares == sorted(shares)
    assert len(shares) > 1


def test_ctrl_c_ends_the_search_with_what_it_has():
    codes = mixed(2000)
    costs = costs_of(codes)
    search = Search(codes, costs, 5, np.random.default_rng(1))
    search.refined(search.start, Effort(1), nobody)
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    ended = search.refined(search.start, Effort(10**7), nobody)
    assert search.stopped
    assert loss(codes, costs, ended) <= loss(codes, costs, search.start)
    assert np.bincount(ended)[np.bincount(ended) > 0].min() >= 5


def test_equal_records_cost_nothing_and_need_no_search():
    codes = numbers(np.ones((50, 2), int))
    search = Search(codes, costs_of(codes), 5, np.random.default_rng(1))
    ended = search.refined(search.start, Effort(10**9), nobody)
    assert search.settled
    assert np.bincount(ended).min() >= 5
