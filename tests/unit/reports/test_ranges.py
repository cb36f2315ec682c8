"""What published values may stand for, against counting the values one by one."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.policy import Policy
from kohort.reports.published import opened
from kohort.reports.ranges import Ranges, generalized


@given(
    ends=st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 6)), min_size=1, max_size=5),
    place=st.tuples(st.floats(-7, 12), st.floats(-7, 12)),
)
def test_whole_numbers_are_counted(ends, place):
    low = np.array([float(first) for first, _ in ends])
    high = np.array([float(first + more) for first, more in ends])
    ranges = Ranges(low, high, whole=True)
    values = [np.arange(first, first + more + 1) for first, more in ends]
    first, last = min(place), max(place)
    assert ranges.below(first) == pytest.approx([(some <= first).mean() for some in values])
    assert ranges.within(first, last) == pytest.approx([((first <= some) & (some <= last)).mean() for some in values])
    assert ranges.middle == pytest.approx([some.mean() for some in values])


def test_decimals_are_spread_evenly():
    ranges = Ranges(np.array([0.0, 2.5, np.nan]), np.array([4.0, 2.5, np.nan]), whole=False)
    assert ranges.below(1).tolist() == [0.25, 0, 0]
    assert ranges.within(1, 2.5).tolist() == [0.375, 1, 0]
    assert ranges.within(2.6, 9).tolist() == pytest.approx([0.35, 0, 0])
    assert ranges.missing.tolist() == [False, False, True]


def test_a_mean_that_no_record_has_is_a_value_of_its_own():
    ranges = Ranges.of_values(np.array([47.5]), whole=True)
    assert (ranges.below(47)[0], ranges.below(48)[0]) == (0, 1)
    assert (ranges.within(40, 47)[0], ranges.within(47, 48)[0]) == (0, 1)


ORIGINAL = pl.DataFrame(
    {
        "age": [31, 30, 64, 66, 61, None],
        "town": ["Rome", "Milan", "Paris", "Paris", "Lyon", "Lyon"],
        "year": ["1990", "1991", "1990", "1995", "1999", "1999"],
        "zip": ["101", "102", "201", "202", "203", "203"],
    }
)
RELEASE = pl.DataFrame(
    {
        "age": ["[30 - 31]", "[30 - 31]", ">= 60", "64", "*", None],
        "town": ["Italy", "Milan", "France", "France", "*", "Lyon"],
        "year": ["1990s", "1990s", "1990", "1995", "*", "1999"],
        "zip": ["10*", "10*", "20*", "20*", "***", "203"],
    }
)
POLICY = Policy.build(
    k=2,
    quasi_identifiers=["age", "town", "year", "zip"],
    hierarchies={
        "town": {"tree": {"Italy": ["Rome", "Milan"], "France": ["Paris", "Lyon"]}},
        "year": {"tree": {"1990s": ["1990", "1991", "1995", "1999"]}},
        "zip": {"prefix": [3, 2, 1]},
    },
)


def test_each_kind_of_column():
    with opened(RELEASE, POLICY, ORIGINAL) as published:
        columns = {one.name: one for one in generalized(published)}
        labels = published.labels[np.argsort(published.ordered.order)]
        shown = {name: one.classes.of(labels) for name, one in columns.items()}
    assert {name: one.kind for name, one in columns.items()} == {
        "age": "number",
        "town": "category",
        "year": "number",
        "zip": "category",
    }
    ends = {name: list(zip(one.low.tolist(), one.high.tolist(), strict=True)) for name, one in shown.items()}
    assert ends["age"][:5] == [(30, 31), (30, 31), (60, 66), (64, 64), (30, 66)]
    assert shown["age"].missing.tolist() == [False] * 5 + [True]
    assert ends["town"] == [(0, 1), (1, 1), (2, 3), (2, 3), (0, 3), (3, 3)]
    assert ends["year"] == [(1990, 1999), (1990, 1999), (1990, 1990), (1995, 1995), (1990, 1999), (1999, 1999)]
    assert ends["zip"] == [(0, 1), (0, 1), (2, 4), (2, 4), (0, 4), (4, 4)]
    assert columns["town"].leaves == ("Rome", "Milan", "Paris", "Lyon")
    assert columns["town"].values.low.tolist() == [0, 1, 2, 2, 3, 3]
    assert columns["year"].values.low.tolist() == [1990, 1991, 1990, 1995, 1999, 1999]
    assert columns["age"].values.low.tolist()[:5] == [31, 30, 64, 66, 61]
    assert columns["age"].values.missing.tolist() == [False] * 5 + [True]


def test_without_the_original_a_column_spans_what_is_published():
    with opened(RELEASE.head(4), POLICY) as published:
        age = generalized(published)[0]
    assert age.values is None
    assert age.classes.high.max() == 64
