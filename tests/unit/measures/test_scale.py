"""Costs in fixed point are exact multiples of the true fractions wherever a common multiple leaves room."""

import datetime as dt
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.codes.encode import encode
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.scale import FINEST, ROOM, grid_of, units_of
from kohort.policy import Policy
from oracles import exact

TREE = {"lung": ["flu", "cough"], "skin": ["acne", {"deep": ["burns", "warts"]}]}


@pytest.mark.parametrize("measure", ["ncp", "height", "iloss"])
@settings(max_examples=40, deadline=None)
@given(
    ages=st.lists(st.integers(0, 120), min_size=12, max_size=12),
    days=st.lists(st.integers(0, 3000), min_size=12, max_size=12),
    rates=st.lists(st.integers(0, 60), min_size=12, max_size=12),
    weight=st.sampled_from([1.0, 0.5, 3.0]),
)
def test_equal_costs_are_equal_integers(measure, ages, days, rates, weight):
    frame = pl.DataFrame(
        {
            "age": ages,
            "born": [dt.date(1960, 1, 1) + dt.timedelta(day) for day in days],
            "rate": [rate / 10 for rate in rates],
            "ill": ["flu", "cough", "acne", "burns", "warts", "flu"] * 2,
        }
    )
    policy = Policy.build(
        k=2, quasi_identifiers=frame.columns, hierarchies={"ill": {"tree": TREE}}, weights={"age": weight}
    )
    axes = encode(frame, policy).axes
    tables = exact.tables(measure, axes)
    costs = compile_costs(MEASURES.make(measure, {}), axes)
    for j, (table, axis) in enumerate(zip(tables, axes, strict=True)):
        # Each column for itself, whatever the others are.
        assert exact.are_proportional(costs, [{} for _ in range(j)] + [table])
        assert costs.full[j] == pytest.approx(costs.full.max() * axis.weight / max(weight, 1.0), rel=1 / 2000)
    needed = np.lcm.reduce([cost.denominator for table in tables for cost in table.values()], dtype=object)
    if needed * max(1, int(2 * weight)) <= FINEST // 4:
        assert exact.are_proportional(costs, tables)
    assert costs.full.sum() <= ROOM


def test_a_column_of_too_many_steps_is_rounded():
    rng = np.random.default_rng(1)
    assert grid_of(np.append(rng.random(100), 1.0)) is None
    units = units_of([None, 7], [Fraction(1), Fraction(1)])
    assert units[0] == units[1]
    assert units[1] % 7 == 0


def test_columns_without_a_common_multiple_are_exact_each_for_itself():
    grids = [99_991, 99_989, 7]
    units = units_of(grids, [Fraction(1)] * 3)
    assert not any(unit % grid for unit, grid in zip(units, grids, strict=True))
    assert max(units) / min(units) < 1 + 1 / 1000


@pytest.mark.parametrize("columns", [1, 8, 1000, 5000])
def test_sums_over_all_columns_fit(columns):
    units = units_of([97] * columns, [Fraction(1)] * columns)
    assert sum(units) <= ROOM
    assert not any(unit % 97 for unit in units)


def test_a_share_beside_a_fraction_has_no_grid():
    """The nearest fraction is on the grid already, and not near enough: it was looked for without end."""
    assert grid_of(np.array([0, 1 / 3, 1 / 3 + 1e-12, 1])) is None
    assert grid_of(np.array([0, 1e-12, 1])) is None
