"""Distances of distributions, means and quantiles, against counting value by value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from kohort.reports.ranges import Ranges
from kohort.reports.utility.columns import Column
from kohort.reports.utility.distributions import (
    QUANTILES,
    Spread,
    by_group,
    change,
    group_cuts,
    recovered,
    total_variation,
    wasserstein,
)

WHOLE = st.lists(st.tuples(st.integers(-4, 9), st.integers(0, 5)), min_size=1, max_size=8)
RECORDS = st.lists(st.integers(-5, 12), min_size=1, max_size=10)


def column_of(ends, values, *, kind="number", whole=True):
    """Rows that stand for ranges, beside records; None for missing."""
    low = np.array([np.nan if one is None else one[0] for one in ends], float)
    high = np.array([np.nan if one is None else one[1] for one in ends], float)
    known = np.array([np.nan if one is None else one for one in values], float)
    rows = np.arange(len(ends))
    labels = tuple("abcdefghij") if kind == "category" else ()
    return Column(
        "age",
        kind,
        Ranges(low, high, whole),
        np.ones(len(ends), np.int64),
        rows,
        Ranges.of_values(known, whole=whole),
        labels,
        object(),
    )


def spread_of(ends):
    """Every whole number of every row with its mass."""
    numbers = [np.arange(low, high + 1) for low, high in ends]
    mass = [np.full(len(some), 1 / len(some) / len(ends)) for some in numbers]
    return np.concatenate(numbers), np.concatenate(mass)


@given(ends=WHOLE, values=RECORDS)
def test_whole_numbers_against_every_value(ends, values):
    ends = [(low, low + more) for low, more in ends]
    column = column_of(ends, values)
    numbers, mass = spread_of(ends)
    found = change(column)
    moved = wasserstein_distance(values, numbers, None, mass)
    width = max(values) - min(values)
    assert found.distance == pytest.approx(moved / width if width else float(moved > 0), abs=1e-9)
    assert found.recovered.mean == pytest.approx(numbers @ mass)
    deviation = np.std(values) or 1.0
    order = np.argsort(numbers, kind="stable")
    for share, error in zip(QUANTILES, found.recovered.quantile_errors, strict=True):
        reached = mass[order].cumsum()
        ours = numbers[order][np.argmax(reached >= share - 1e-9)]
        theirs = np.quantile(values, share, method="inverted_cdf")
        assert error == pytest.approx((ours - theirs) / deviation, abs=1e-9)


@given(ends=WHOLE, values=RECORDS)
def test_groups_of_numbers_against_every_value(ends, values):
    ends = [(low, low + more) for low, more in ends]
    numbers, mass = spread_of(ends)
    cuts = group_cuts(np.array(values, float))
    ranges = column_of(ends, values).shown
    found = by_group(ranges, np.ones(len(ends)), cuts) / len(ends)
    assert found == pytest.approx(np.bincount(np.searchsorted(cuts, numbers), mass, len(cuts) + 1), abs=1e-9)


@given(
    ends=st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 5), st.integers(0, 4))), min_size=1, max_size=8),
    values=st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=10),
)
def test_categories_against_every_value(ends, values):
    ends = [one and (one[0], one[0] + one[1]) for one in ends]
    after = np.zeros(11)
    for one in ends:
        if one is None:
            after[10] += 1
        else:
            after[one[0] : one[1] + 1] += 1 / (one[1] - one[0] + 1)
    before = np.bincount([10 if one is None else one for one in values], minlength=11)
    expected = np.abs(before / len(values) - after / len(ends)).sum() / 2
    assert total_variation(column_of(ends, values, kind="category")) == pytest.approx(expected, abs=1e-9)


@given(
    first=st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=5),
    second=st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=5),
)
def test_decimals_against_a_fine_grid(first, second):
    """An interval as many places; a place differs from its piece by half a step at most."""
    steps = 2000
    spreads, grids = [], []
    for ends in (first, second):
        low = np.array([float(one) for one, _ in ends])
        high = np.array([float(one + more) for one, more in ends])
        spreads.append(Spread.of(Ranges(low, high, whole=False), np.ones(len(ends))))
        grids.append(
            np.concatenate([a + (b - a) * (np.arange(steps) + 0.5) / steps for a, b in zip(low, high, strict=True)])
        )
    assert wasserstein(*spreads, whole=False) == pytest.approx(wasserstein_distance(*grids), abs=3 / steps)


def test_known_values():
    # half of the records move by 1, half by 2, of a range of 10
    column = column_of([(1, 1), (2, 2), (12, 12), (12, 12)], [0, 0, 10, 10])
    assert change(column).distance == pytest.approx((1 + 2 + 2 + 2) / 4 / 10)
    assert change(column).shift == pytest.approx(0.5)  # the groups are: up to 0, and all above
    column = column_of([(0, 9)] * 4, [4, 5, 4, 5])
    assert recovered(column).mean_error == pytest.approx(0)
    assert recovered(column).quantile_errors == pytest.approx([-8, -4, 0, 4, 8])
    # a constant column has no deviation to measure by
    assert recovered(column_of([(3, 5)], [4])).mean_error == 0


def test_missing_values_are_a_value_and_no_number():
    column = column_of([None, (1, 1), (3, 3), (3, 3)], [None, None, 1, 3])
    found = change(column)
    assert found.shift == pytest.approx(0.25)
    assert found.distance == pytest.approx(1 / 6)
    nobody = change(column_of([None, None], [None, None]))
    assert (nobody.shift, nobody.distance, nobody.recovered) == (0, None, None)


@pytest.mark.parametrize("far", [1e9, 1e15])
def test_large_numbers(far):
    """Differences of large numbers are what those of small ones are."""
    column = column_of([(far, far + 10)] * 2, [far, far + 10])
    near = column_of([(0, 10)] * 2, [0, 10])
    assert change(column).distance == pytest.approx(change(near).distance, rel=1e-6)
