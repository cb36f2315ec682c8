"""Counts from a release, against counting over all values that each row may have."""

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.policy import Policy
from kohort.reports.published import opened
from kohort.reports.utility.columns import columns_of
from kohort.reports.utility.queries import Condition, counted, estimated, queries

POLICY = Policy.build(
    k=2,
    quasi_identifiers=["age", "town"],
    sensitive=["ill"],
    hierarchies={"town": {"tree": {"Italy": ["Rome", "Milan"], "France": ["Paris", "Lyon"]}}},
)
TOWNS = ["Rome", "Milan", "Paris", "Lyon"]
COVERS = {"Italy": [0, 1], "France": [2, 3], "*": [0, 1, 2, 3]} | {town: [place] for place, town in enumerate(TOWNS)}


@st.composite
def tables(draw):
    """Records, and rows that cover them."""
    ages = draw(st.lists(st.integers(0, 9), min_size=2, max_size=8))
    size = len(ages)
    towns = draw(st.lists(st.sampled_from(TOWNS), min_size=size, max_size=size))
    ills = draw(st.lists(st.sampled_from(["flu", "cold"]), min_size=size, max_size=size))
    wide = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    up = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    original = pl.DataFrame({"age": ages, "town": towns, "ill": ills})
    release = pl.DataFrame(
        {
            "age": [f"[{age} - {age + more}]" if more else str(age) for age, more in zip(ages, wide, strict=True)],
            "town": [
                [town, "Italy" if town in TOWNS[:2] else "France", "*"][level]
                for town, level in zip(towns, up, strict=True)
            ],
            "ill": ills,
        }
    )
    return original, release


def by_hand(release, low, high, towns, ill):
    """Expected rows: every pair of an age and a town of a row is equally likely."""
    total = Fraction(0)
    for age, town, what in release.rows():
        first, _, last = age.strip("[]").partition(" - ")
        cells = list(product(range(int(first), int(last or first) + 1), COVERS[town]))
        met = sum(low <= one <= high and towns[0] <= place <= towns[1] for one, place in cells)
        total += Fraction(met, len(cells)) * (ill is None or what == ill)
    return float(total)


@settings(max_examples=30)
@given(
    both=tables(),
    ages=st.tuples(st.integers(0, 12), st.integers(0, 12)),
    towns=st.sampled_from([(0, 0), (2, 3), (0, 3), (1, 1)]),
    ill=st.sampled_from([None, "flu", "cold"]),
)
def test_against_all_values_of_every_row(both, ages, towns, ill):
    original, release = both
    low, high = min(ages), max(ages)
    with opened(release, POLICY, original, as_is=True) as published:
        columns = columns_of(published)
        question = [Condition(0, low, high), Condition(1, *towns)]
        if ill is not None and ill in columns[2].labels:
            place = columns[2].labels.index(ill)
            question.append(Condition(2, place, place))
        elif ill is not None:
            return
        kept = [row for row, keep in zip(release.rows(), published.kept, strict=True) if keep]
        found, true = estimated(columns, question), counted(columns, question)
    assert found == pytest.approx(by_hand(pl.DataFrame(kept, release.schema, orient="row"), low, high, towns, ill))
    rows = [
        low <= age <= high and towns[0] <= TOWNS.index(town) <= towns[1] and ill in (None, what)
        for age, town, what in original.rows()
    ]
    assert true == sum(rows)


def test_figures_of_a_workload():
    original = pl.DataFrame({"age": list(range(100)), "town": TOWNS * 25, "ill": ["flu", "cold"] * 50})
    release = original.with_columns(pl.lit("[0 - 99]").alias("age"))
    with opened(release, POLICY, original, as_is=True) as published:
        found = queries(columns_of(published), np.random.default_rng(1), count=200)
        again = queries(columns_of(published), np.random.default_rng(1), count=200)
    assert found == again
    assert found.count == 200
    assert set(found.by_conditions) == {1, 2, 3}
    assert 0 <= found.median < found.quantiles["90%"] <= found.quantiles["95%"]
    assert found.sanity == 1
    with opened(original.with_columns(pl.col("age").cast(pl.String)), POLICY, original, as_is=True) as published:
        assert queries(columns_of(published), np.random.default_rng(1), count=50).median == 0


def test_no_question_can_be_asked_of_columns_without_values():
    original = pl.DataFrame(
        {"age": [None, None, None], "town": [None] * 3}, schema={"age": pl.Int64, "town": pl.String}
    )
    policy = Policy.build(k=2, quasi_identifiers=["age", "town"], columns={"age": {"type": "integer"}})
    with opened(original.cast(pl.String), policy, original, as_is=True) as published:
        found = queries(columns_of(published), np.random.default_rng(1))
    assert (found.count, found.median, found.close) == (0, None, None)
