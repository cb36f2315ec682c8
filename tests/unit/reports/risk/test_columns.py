"""Distinction and separation, and the smallest sets of columns that single people out."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.reports.alike import counts_of
from kohort.reports.risk import sets
from kohort.reports.risk.sets import column_sets

# ARX, TestRiskQuasiIdentifiers: calculated by hand
PEOPLE = pl.DataFrame(
    {
        "age": ["20", "30", "40", "20", "40"],
        "sex": ["Female", "Female", "Female", "Male", "Male"],
        "state": ["CA", "CA", "TX", "NY", "CA"],
    }
)


def test_the_figures_that_arx_expects():
    found = kohort.risk(PEOPLE, quasi_identifiers=["age,sex,state"]).file
    assert {one.name: (one.distinction, one.separation) for one in found.columns} == {
        "age": (0.6, pytest.approx(0.8)),
        "sex": (0.4, pytest.approx(0.6)),
        "state": (0.6, pytest.approx(0.7)),
    }


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.01, 0.1, 0.3, 0.8]))
def test_sets_are_those_of_a_search_of_all(seed, share):
    random = np.random.default_rng(seed)
    names, rows = "abcde", random.integers(1, 60)
    numbers = {name: random.integers(0, random.integers(1, 9), rows).astype(np.int32) for name in names}

    def alone(some):
        _, counts = np.unique(np.column_stack([numbers[name] for name in some]), axis=0, return_counts=True)
        return (counts == 1).sum() / rows

    every = {some: alone(some) for size in (1, 2, 3) for some in combinations(names, size)}
    least = {
        some: unique
        for some, unique in every.items()
        if unique >= share and not any(every[less] >= share for less in every if set(less) < set(some))
    }
    found = column_sets(numbers, share=share)
    assert {one.columns: one.unique for one in found.found} == least
    assert found.complete


def test_a_wide_table_is_looked_at_in_part_and_always_in_the_same(monkeypatch):
    monkeypatch.setattr(sets, "_CELLS", 10_000)
    random = np.random.default_rng(1)
    numbers = {f"q{place}": random.integers(0, 7, 100).astype(np.int32) for place in range(30)}
    told = []
    found = column_sets(numbers, share=0.9, report=told.append)
    assert not found.complete
    assert 30 < found.looked_at < found.there == 30 + 30 * 29 // 2 + 30 * 29 * 28 // 6
    assert found == column_sets(numbers, share=0.9)
    assert told == sorted(told)
    assert told[-1] <= 1


def test_many_values_are_counted_without_overflow():
    random = np.random.default_rng(2)
    numbers = {name: random.integers(0, 3, 50).astype(np.int32) for name in "abcdef"}
    expected = np.unique(np.column_stack(list(numbers.values())), axis=0, return_counts=True)[1]
    found = counts_of(numbers, dict.fromkeys(numbers, 2**30 + 1), list(numbers))
    assert sorted(found.tolist()) == sorted(expected.tolist())
