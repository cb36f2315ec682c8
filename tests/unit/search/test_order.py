"""Orders by halves, and the near rows that are found with their help."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.tasks import costs_of, numbers
from kohort.kernels.costs import span_cost
from kohort.search.order import best_cut, column_order, first_partition, halved, in_order
from kohort.search.refine import Search


def continuous(n, d=4, seed=1):
    """All values of a column are different."""
    return numbers(np.random.default_rng(seed).permuted(np.tile(np.arange(n), (d, 1)), axis=1).T)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 200), st.integers(1, 4), st.integers(1, 60), st.integers(2, 20), st.integers(0, 2**32 - 1))
def test_every_record_has_one_place(n, d, values, leaf, seed):
    rng = np.random.default_rng(seed)
    codes = numbers(rng.integers(0, values, (n, d)))
    order = halved(codes.array, costs_of(codes), leaf, rng, jitter=0.5)
    assert sorted(order) == list(range(n))


def test_equal_records_stand_together():
    codes = numbers(np.random.default_rng(1).integers(0, 4, (300, 3)))
    rows = codes.array[halved(codes.array, costs_of(codes), 1, np.random.default_rng(1))]
    changes = 1 + np.count_nonzero((rows[1:] != rows[:-1]).any(axis=1))
    assert changes == len(np.unique(rows, axis=0))


def test_the_first_cut_is_between_two_heaps():
    heaps = np.concatenate([np.arange(30), np.arange(1000, 1070)])
    codes = numbers(heaps[np.random.default_rng(2).permutation(100)][:, None])
    order = halved(codes.array, costs_of(codes), 75, np.random.default_rng(1))
    assert set(codes.array[order[:30], 0]) == set(range(30))


def test_many_uneven_cuts_end():
    """The best cut takes the largest value off, again and again, on one column after the other."""
    powers = 2.0 ** np.arange(40)
    table = np.ones((200, 5))
    for column in range(5):
        table[40 * column : 40 * column + 40, column] = powers
    codes = numbers(table)
    assert sorted(halved(codes.array, costs_of(codes), 1, np.random.default_rng(1))) == list(range(200))


def test_of_two_orders_the_one_that_loses_less_is_taken():
    codes = continuous(500)
    costs = costs_of(codes)
    rng = np.random.default_rng(1)
    once = np.ones(500, np.int64)
    columns = column_order(codes.array, once, costs, 5, rng)
    loss, labels = first_partition(codes.array, once, costs, 5, columns, rng)
    by_sorting = best_cut(codes.array, costs, 5, in_order(codes.array, columns))[0]
    assert loss < by_sorting
    assert np.bincount(labels).min() >= 5


def test_copies_of_a_row_are_records_of_their_own():
    rng = np.random.default_rng(3)
    codes = numbers(rng.integers(0, 4, (60, 2)))
    costs = costs_of(codes)
    rows = codes.distinct
    order = in_order(rows.codes, [0, 1])
    loss, labels = best_cut(rows.codes, costs, 4, order, rows.counts)
    every = np.repeat(rows.codes, rows.counts, axis=0)
    assert loss == best_cut(every, costs, 4, in_order(every, [0, 1]))[0]
    boxes = [every[labels == label] for label in np.unique(labels)]
    assert min(len(box) for box in boxes) >= 4
    sides = [(len(box), box.min(axis=0), box.max(axis=0)) for box in boxes]
    assert loss == sum(
        size * sum(span_cost(costs, axis, lo[axis], hi[axis]) for axis in range(2)) for size, lo, hi in sides
    )


@pytest.mark.parametrize("table", ["continuous", "few values"])
def test_near_rows_are_found(table):
    rng = np.random.default_rng(1)
    codes = continuous(3000) if table == "continuous" else numbers(rng.integers(0, 6, (3000, 6)))
    costs = costs_of(codes)
    search = Search(codes, costs, 5, rng, threads=2)
    rows = codes.distinct.codes
    near = search._nearness.near
    found = []
    for row in range(0, len(rows), 97):
        lows, highs = np.minimum(rows, rows[row]), np.maximum(rows, rows[row])
        cost = np.array(
            [sum(span_cost(costs, axis, lo[axis], hi[axis]) for axis in range(rows.shape[1]))
             for lo, hi in zip(lows, highs, strict=True)]
        )  # fmt: skip
        cost[row] = cost.max()
        others = near[row][(near[row] >= 0) & (near[row] != row)]
        found.append(np.mean(cost[others] <= np.sort(cost)[len(others) - 1]))
    assert np.mean(found) > 0.85
