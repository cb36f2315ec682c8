"""ILoss: values left open over all values; for numbers those of the table, whatever their distance."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import kohort
from kohort.codes.boxes import boxes_of_labels
from kohort.codes.encode import encode
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.loss import cell_costs, loss_of_boxes
from kohort.policy import Policy
from kohort.table import typed_quasi_identifiers
from property.strategies import cases

ILOSS = MEASURES.make("iloss", {})


def codes_of(frame, **policy):
    policy = Policy.build(k=2, quasi_identifiers=frame.columns, **policy)
    return encode(typed_quasi_identifiers(frame, policy), policy)


def test_numbers_by_hand():
    """Five distinct values; 1 to 3 covers three of them, although it is a tenth of the range."""
    codes = codes_of(pl.DataFrame({"x": [1, 2, 3, 10, 21, 21]}))
    boxes = boxes_of_labels(codes.array, np.array([0, 0, 0, 1, 1, 1], np.int32))
    assert loss_of_boxes(ILOSS, codes, boxes.lo, boxes.hi).total == pytest.approx((3 * 2 / 5 + 3 * 1 / 5) / 6)
    assert loss_of_boxes(ILOSS, codes, boxes.lo, boxes.hi, suppressed=2).total == pytest.approx(
        (3 * 2 / 5 + 3 * 1 / 5 + 2) / 8
    )


def test_categories_by_hand():
    tree = {"a": ["a1", "a2"], "b": ["b1", "b2", "b3"]}
    codes = codes_of(pl.DataFrame({"x": ["a1", "a2", "b1", "b3", "a1", "b1"]}), hierarchies={"x": {"tree": tree}})
    boxes = boxes_of_labels(codes.array, np.array([0, 0, 1, 1, 2, 2], np.int32))
    costs = cell_costs(ILOSS, codes.axes[0], boxes.lo[:, 0], boxes.hi[:, 0])
    np.testing.assert_allclose(costs, [1 / 5, 1 / 5, 2 / 5, 2 / 5, 4 / 5, 4 / 5])


def test_missing_numbers_cost_all_or_nothing():
    codes = codes_of(pl.DataFrame({"x": [1, None, None, 4]}))
    mixed, alone = (boxes_of_labels(codes.array, np.array(labels, np.int32)) for labels in ([0, 0, 0, 0], [0, 1, 1, 0]))
    assert loss_of_boxes(ILOSS, codes, mixed.lo, mixed.hi).total == 1
    assert loss_of_boxes(ILOSS, codes, alone.lo, alone.hi).total == pytest.approx((1 / 2 + 0 + 0 + 1 / 2) / 4)


def test_compiled_lines_are_ranks():
    codes = codes_of(pl.DataFrame({"x": [1.0, 2.5, 100.0, 101.0]}))
    costs = compile_costs(ILOSS, codes.axes)
    np.testing.assert_array_equal(costs.flat, np.arange(4) * (costs.full[0] // 4))


@given(case=cases(max_rows=25))
@settings(max_examples=25, deadline=None)
def test_every_cell_is_a_count(case):
    """Against counting the values of the domain between the ends of a box, one by one."""
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    boxes = boxes_of_labels(codes.array, (np.arange(frame.height) % 3).astype(np.int32))
    for j, axis in enumerate(codes.axes):
        if axis.has_missing:
            continue
        lo, hi = boxes.lo[:, j], boxes.hi[:, j]
        costs = cell_costs(ILOSS, axis, lo, hi)
        if hasattr(axis, "taxonomy"):
            node = axis.nodes(lo, hi)
            tree = axis.taxonomy
            inside = [sum(tree.lca(leaf, int(tree.first_leaf[n])) >= n for leaf in range(tree.n_leaves)) for n in node]
            domain = tree.n_leaves
        else:
            inside, domain = [len(range(a, b + 1)) for a, b in zip(lo, hi, strict=True)], len(axis.values)
        np.testing.assert_allclose(costs, (np.array(inside) - 1) / domain)


def test_a_written_release_is_measured_alike():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"age": rng.geometric(0.05, 200), "pay": rng.exponential(9, 200).round(1), "sex": rng.choice(["f", "m"], 200)}
    )
    policy = Policy.build(k=5, quasi_identifiers=frame.columns, measure="iloss", seed=1)
    release = kohort.anonymize(frame, policy)
    assert kohort.measure(release.table, frame, policy).by_column == pytest.approx(release.loss.by_column)


@pytest.mark.parametrize(
    ("published", "cost"),
    [
        ("[15 - 35]", 2 / 5),  # 20, 30 and 35
        ("[20 - 30]", 1 / 5),
        ("[21 - 29]", 0),  # none of the table
        ("[10, 20[", 0),
        ("<= 30", 2 / 5),
        ("35", 0),
        ("*", 1),
    ],
)
def test_intervals_of_others_cost_the_values_inside(published, cost):
    frame = pl.DataFrame({"age": [10, 20, 30, 35, 90, 90]})
    policy = Policy.build(k=2, quasi_identifiers=["age"], measure="iloss")
    assert kohort.measure(pl.DataFrame({"age": [published] * 6}), frame, policy).total == pytest.approx(cost)


def test_open_ends_of_numbers_are_not_covered():
    frame = pl.DataFrame({"x": [0.5, 1.0, 1.5, 2.0]})
    policy = Policy.build(k=2, quasi_identifiers=["x"], measure="iloss")
    assert kohort.measure(pl.DataFrame({"x": ["[0.5, 2.0["] * 4}), frame, policy).total == pytest.approx(2 / 4)
    assert kohort.measure(pl.DataFrame({"x": ["[0.5, 2.0]"] * 4}), frame, policy).total == pytest.approx(3 / 4)


def test_a_star_costs_what_the_root_does():
    frame = pl.DataFrame({"x": ["a", "b", "c", "d"]})
    policy = Policy.build(k=2, quasi_identifiers=["x"], measure="iloss", seed=1)
    release = kohort.anonymize(frame, policy)
    assert release.loss.total == pytest.approx(3 / 4)
    assert kohort.measure(release.table, frame, policy).total == pytest.approx(3 / 4)
