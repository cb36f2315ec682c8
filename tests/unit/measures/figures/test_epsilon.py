"""Distances of sensitive values: by hand, and against comparing all pairs."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.codes.encode import LineAxis, encode
from kohort.errors import PolicyError
from kohort.measures.figures import FIGURES, Partition, epsilon
from kohort.measures.figures.epsilon import class_distances, delta_at
from kohort.policy import Policy
from kohort.table import typed_columns
from property.strategies import cases


def partition(labels, *, k=2, hierarchies=None, **columns):
    frame = pl.DataFrame({"q": range(len(labels))} | columns)
    policy = Policy.build(k=k, quasi_identifiers=["q"], sensitive=list(columns), hierarchies=hierarchies)
    sensitive = encode(typed_columns(frame, policy, "sensitive"), policy, "sensitive")
    empty = np.zeros((len(labels), 0), np.int32)
    return Partition(np.asarray(labels, np.int64), (), empty, empty, sensitive, k, 0)


def figure(part, **parameters):
    return FIGURES.make("epsilon", parameters).of(part)


def test_numbers_by_hand():
    """Range 10: class 0 has distances .1, .3, .2, class 1 only 1."""
    told = figure(partition([0, 0, 0, 1, 1], pay=[1, 2, 4, 0, 10]))
    assert told["smallest_eps_min"] == pytest.approx(0.1)
    assert told["mean_eps_min"] == pytest.approx((0.1 + 1) / 2)
    assert told["mean_eps_avg"] == pytest.approx((0.2 + 1) / 2)
    assert told["eps_min_rcf"] == [0, 0] + [0.5] * 17 + [1]


def test_categories_by_hand():
    """Diseases like those of figure 1, with leaves of different depth; H = 3."""
    tree = {"venereal": ["syphilis", "HIV"], "lung": {"acute": ["flu"], "chronic": ["asthma"]}}
    ill = ["syphilis", "HIV", "flu", "asthma", "HIV", "flu"]
    part = partition([0, 0, 1, 1, 2, 2], ill=ill, hierarchies={"ill": {"tree": tree}})
    smallest, mean, _ = class_distances(part.labels, part.sensitive, 0)
    np.testing.assert_allclose(smallest, [2 / 6, 4 / 6, 5 / 6])
    np.testing.assert_allclose(mean, smallest)


def test_several_columns_weigh_the_same():
    part = partition([0, 0], pay=[0, 10], ill=["flu", "flu"])
    assert figure(part)["mean_eps_avg"] == pytest.approx(0.5)


def test_columns_count_by_their_weights():
    """Equations 3 and 4 by hand: (3 * 2/10 + 1 * 1) / 4."""
    frame = pl.DataFrame({"q": [1, 2], "pay": [0, 2], "other": [0, 10], "ill": ["flu", "cold"]})
    policy = Policy.build(k=2, quasi_identifiers=["q", "other"], sensitive=["pay", "ill"], weights={"pay": 3.0})
    policy = policy.with_changes("columns", pay={"role": "sensitive", "weight": 3.0})
    wide = pl.concat([frame, frame.with_columns(pay=pl.Series([10, 10]))])
    sensitive = encode(typed_columns(wide, policy, "sensitive"), policy, "sensitive")
    empty = np.zeros((4, 0), np.int32)
    part = Partition(np.array([0, 0, 1, 1]), (), empty, empty, sensitive, 2, 0)
    smallest, _, _ = class_distances(part.labels, part.sensitive, 0)
    by_hand = [(3 * Fraction(2, 10) + 1) / 4, (3 * Fraction(0) + 1) / 4]
    assert smallest.tolist() == pytest.approx([float(share) for share in by_hand])


def test_a_missing_value_is_far_from_all_but_missing_ones():
    smallest, mean, _ = class_distances(*_of(partition([0, 0, 1, 1, 1], pay=[1, None, None, None, 5])), 0)
    assert smallest.tolist() == [1, 0]
    assert mean.tolist() == pytest.approx([1, 2 / 3])


def test_equal_values_have_no_distance():
    told = figure(partition([0, 0, 1, 1], ill=["flu", "flu", "flu", "HIV"]), epsilon=0)
    assert told["smallest_eps_min"] == told["delta"] == 0
    assert told["mean_eps_min"] == 0.5


def test_delta_is_the_worst_share_of_dissimilar_others():
    part = partition([0] * 5, pay=[0, 1, 2, 9, 10])  # within .2: {0,1,2} and {9,10}
    assert delta_at(part, 0.2) == pytest.approx(2 / 4)
    assert delta_at(part, 0.1) == pytest.approx(2 / 4)  # 1 has both 0 and 2
    assert delta_at(part, 0.05) == 1
    assert delta_at(part, 1) == 0


def test_the_border_is_similar_in_spite_of_rounding():
    """.6 - .2 and 1 - .6 are not the same in floating point; at a distance of exactly epsilon all are similar."""
    part = partition([0, 0, 1, 1, 2, 2], pay=[0.0, 0.4, 0.2, 0.6, 0.6, 1.0])
    assert delta_at(part, 0.4) == 0
    assert delta_at(part, 0.3999) == 1


def test_one_record_has_no_others():
    told = figure(partition([0, 1, 1], pay=[1, 2, 3]))
    assert told["mean_eps_min"] == pytest.approx(0.25)
    assert told["delta"] == 1


def test_nothing_to_tell_without_sensitive_columns_or_records():
    part = partition([0], pay=[1])
    assert figure(Partition(part.labels, (), part.lo, part.hi, None, 2, 0)) == {}
    assert figure(Partition(part.labels[:0], (), part.lo[:0], part.hi[:0], part.sensitive, 2, 1)) == {}


def _of(part):
    return part.labels, part.sensitive


def plain_distance(axis, a, b):
    """Straight from equations 1 and 2."""
    if a == b:
        return Fraction(0)
    if axis.missing_code in (a, b):
        return Fraction(1)
    if isinstance(axis, LineAxis):
        values = [Fraction(value) for value in axis.values.cast(pl.Float64)]
        return abs(values[a] - values[b]) / (values[-1] - values[0])
    tree = axis.taxonomy
    paths = []
    for leaf in (a, b):
        node, path = int(tree.leaf_node[leaf]), []
        while node >= 0:
            path.append(node)
            node = int(tree.parent[node])
        paths.append(path)
    edges = len(set(paths[0]) ^ set(paths[1]))
    return Fraction(edges, 2 * int(tree.height[0]))


@given(case=cases(max_rows=24), data=st.data())
@settings(max_examples=60, deadline=None)
def test_as_all_pairs_say(case, data):
    frame, policy = case
    codes = encode(typed_columns(frame, policy, "quasi"), policy)  # any columns will do as sensitive ones
    axes = tuple(
        type(axis)(**{**{name: getattr(axis, name) for name in axis.__dataclass_fields__}, "weight": 1.0})
        for axis in codes.axes
    )
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=frame.height, max_size=frame.height)))
    limit = data.draw(st.sampled_from([0.0, 0.1, 0.25, 0.5]))
    found = class_distances(labels, type(codes)(codes.array, axes), limit)
    for index, label in enumerate(np.unique(labels)):
        rows = codes.array[labels == label].tolist()
        pairs = {
            (i, j): sum(plain_distance(axis, rows[i][c], rows[j][c]) for c, axis in enumerate(axes)) / len(axes)
            for i, j in combinations(range(len(rows)), 2)
        }
        far = [sum(d > limit + 1e-9 for pair, d in pairs.items() if i in pair) for i in range(len(rows))]
        others = len(rows) - 1
        assert found[0][index] == pytest.approx(float(min(pairs.values(), default=0)), abs=1e-12)
        assert found[1][index] == pytest.approx(float(sum(pairs.values()) / len(pairs)) if pairs else 0, abs=1e-12)
        assert found[2][index] == pytest.approx(min(far) / others if others else 1)


def test_work_in_small_steps_is_the_same_work(monkeypatch):
    rng = np.random.default_rng(1)
    part = partition(rng.integers(0, 9, 200), pay=rng.integers(0, 50, 200))
    whole = class_distances(*_of(part), 0.2)
    monkeypatch.setattr(epsilon, "WORK", 1)
    for one, other in zip(class_distances(*_of(part), 0.2), whole, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("value", [-0.1, 1.1, True, "small", None])
def test_wrong_parameters(value):
    with pytest.raises(PolicyError, match="'epsilon' must be a number from 0 to 1"):
        FIGURES.make("epsilon", {"epsilon": value})
