"""Compiled cost tables say what the measure says, for every box and in every representation."""

import numpy as np
import pytest
from hypothesis import given, settings

from kohort.codes.encode import LineAxis, encode
from kohort.kernels.costs import box_cost, span_cost
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.table import typed_quasi_identifiers
from property.strategies import cases


def expected_cost(measure, axis, lo, hi):
    """The exact cost of one side of a box, by definition."""
    if lo == hi == axis.missing_code:
        return 0.0
    if hi == axis.missing_code:
        return 1.0 if isinstance(axis, LineAxis) else measure.node_costs(axis.taxonomy)[0]
    if isinstance(axis, LineAxis):
        return measure.positions(axis)[hi] - measure.positions(axis)[lo]
    members = range(lo, hi + 1)
    paths = [_ancestors(axis.taxonomy, leaf) for leaf in members]
    common = next(node for node in paths[0] if all(node in path for path in paths))
    return measure.node_costs(axis.taxonomy)[common]


def _ancestors(tree, leaf):
    path = [int(tree.leaf_node[leaf])]
    while tree.parent[path[-1]] >= 0:
        path.append(int(tree.parent[path[-1]]))
    return path


@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("limit", [512, 0], ids=["tables", "ranges"])
@given(case=cases(max_rows=15))
@settings(max_examples=25, deadline=None)
def test_costs_are_those_of_the_measure(measure, limit, case):
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    made = MEASURES.make(measure, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compile, "TABLE_LIMIT", limit)
        costs = compile_costs(made, codes.axes)
    for j, axis in enumerate(codes.axes):
        for lo in range(axis.size):
            for hi in range(lo, axis.size):
                exact = expected_cost(made, axis, lo, hi) * costs.full[j]
                assert span_cost(costs, j, lo, hi) == pytest.approx(exact, abs=1.01)  # one unit of rounding


@given(case=cases(max_rows=15))
@settings(max_examples=25, deadline=None)
def test_costs_are_monotone(case):
    """A box inside another never costs more: what lazy candidates rest on."""
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    for name in MEASURES:
        costs = compile_costs(MEASURES.make(name, {}), codes.axes)
        for j, axis in enumerate(codes.axes):
            table = np.array(
                [[span_cost(costs, j, min(a, b), max(a, b)) for a in range(axis.size)] for b in range(axis.size)]
            )
            for lo in range(axis.size):
                assert (np.diff(table[lo, lo:]) >= 0).all()
                assert (np.diff(table[lo, : lo + 1]) <= 0).all()


def test_weights_are_relative():
    frame, policy = _two_columns(weights={"a": 2.0, "b": 1.0})
    codes = encode(frame, policy)
    costs = compile_costs(MEASURES.make("ncp", {}), codes.axes)
    whole = np.array([0, 0], np.int32), np.array([1, 1], np.int32)
    one, half = costs.full
    assert one == 2 * half
    assert box_cost(costs, *whole) == one + half
    doubled = compile_costs(MEASURES.make("ncp", {}), encode(*_two_columns({"a": 200.0, "b": 100.0})).axes)
    assert box_cost(doubled, *whole) == box_cost(costs, *whole)


def test_a_declared_domain_is_the_range():
    import polars as pl

    from kohort.policy import Policy

    frame = pl.DataFrame({"a": [10, 20]})
    policy = Policy(privacy={"k": 2}, columns={"a": {"role": "quasi", "domain": [0, 100]}})
    costs = compile_costs(MEASURES.make("ncp", {}), encode(frame, policy).axes)
    assert span_cost(costs, 0, 0, 1) == pytest.approx(costs.full[0] / 10, abs=1)


def _two_columns(weights):
    import polars as pl

    from kohort.policy import Policy

    policy = Policy.build(k=2, quasi_identifiers=["a", "b"], weights=weights)
    return pl.DataFrame({"a": [1, 2], "b": [5, 9]}), policy
