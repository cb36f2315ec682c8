"""KACA: the same classes as a plain loop over lists of records, on any table."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.tasks import assert_only_the_seed_decides, assert_steps_do_not_matter, numbers
from kohort.algorithms import ALGORITHMS, kaca
from kohort.codes.encode import encode
from kohort.errors import InfeasibleError, PolicyError
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases


class FixedDraws:
    """In place of a generator: draws that a test has chosen."""

    def __init__(self, *draws):
        self.draws = draws

    def random(self, count):
        assert len(self.draws) <= count
        return np.array([*self.draws, *[0.0] * (count - len(self.draws))])


def cluster(codes, k, rng=3, measure="ncp", progress=lambda share: None, **parameters):
    measure = MEASURES.make(measure, {})
    rng = np.random.default_rng(rng) if isinstance(rng, int) else rng
    task = Task(codes, measure, compile_costs(measure, codes.axes), k, rng, progress)
    return ALGORITHMS.make("kaca", parameters).cluster(task)


def line(*values):
    return numbers(np.array(values)[:, None])


def classes_of(codes, labels):
    """The codes of the members of each class, on the first axis."""
    return [sorted(codes.array[labels == label, 0].tolist()) for label in range(labels.max() + 1)]


def plain(codes, k, rng=3, beta=1.0, tables=None):
    """The page's pseudocode, on lists of records, with no box kept and nothing cut short."""
    tables = dense_tables(compile_costs(kaca.Levels(beta), codes.axes)).tolist() if tables is None else tables
    rows = codes.distinct
    records = codes.array[rows.order].astype(int)
    row_of = np.repeat(np.arange(len(rows.codes)), rows.counts)

    def cost(members):
        some = records[members]
        return sum(tables[axis][some[:, axis].min()][some[:, axis].max()] for axis in range(some.shape[1]))

    def distance(small, other):
        joining = len(other) if len(small) + len(other) < 2 * k else k - len(small)
        both = cost(small + other)
        return len(small) * (both - cost(small)) + joining * (both - cost(other))

    classes = {row: np.flatnonzero(row_of == row).tolist() for row in range(len(rows.codes))}
    smalls = sum(len(members) < k for members in classes.values())
    draws = iter(np.random.default_rng(rng).random(smalls))
    while len(classes) > 1:
        small = [number for number in sorted(classes) if len(classes[number]) < k]
        if not small:
            break
        one = small[int(next(draws) * len(small))]
        others = [number for number in sorted(classes) if number != one]
        other = min(others, key=lambda number: distance(classes[one], classes[number]))
        if len(classes[one]) + len(classes[other]) < 2 * k:
            joined = sorted(classes.pop(one) + classes.pop(other))
            classes[min(one, other)] = joined
            continue
        while len(classes[one]) < k:
            record = min(classes[other], key=lambda record: (cost([*classes[one], record]), record))
            classes[other].remove(record)
            classes[one].append(record)
    return classes, records


def same_classes(codes, labels, classes, records):
    """Equal records are the same to everybody, so classes are compared by what is in them."""
    ours = [sorted(map(tuple, codes.array[labels == label].tolist())) for label in range(labels.max() + 1)]
    assert ours == [sorted(map(tuple, records[classes[number]].tolist())) for number in sorted(classes)]


@pytest.mark.parametrize("beta", [0, 1.0, 2.5])
@pytest.mark.parametrize("wide", [False, True], ids=["tables", "ranges"])
@given(case=cases(max_rows=40))
@settings(max_examples=12, deadline=None)
def test_same_classes_as_the_plain_loop(beta, wide, case):
    frame, policy = case
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    k = policy.privacy.k
    with pytest.MonkeyPatch.context() as patch:
        if wide:  # as if every taxonomy were a large one
            patch.setattr(compile, "TABLE_LIMIT", 0)
        labels = cluster(codes, k, beta=beta)
        same_classes(codes, labels, *plain(codes, k, beta=beta))


@given(seed=st.integers(0, 99), k=st.integers(2, 7), values=st.integers(2, 8))
@settings(max_examples=25, deadline=None)
def test_same_classes_where_rows_repeat(seed, k, values):
    """Many stubs, of exact and of merged classes."""
    codes = numbers(np.random.default_rng(seed).integers(0, values, (60, 2)))
    same_classes(codes, cluster(codes, k, seed), *plain(codes, k, seed))


LEAVES = ["a", "b", "c", "d", "e"]
UNBALANCED = {"abcd": {"abc": {"ab": ["a", "b"], "just c": ["c"]}, "just d": ["d"]}, "just e": ["e"]}
DEPTH = {"a": 4, "b": 4, "c": 4, "d": 3, "e": 2}
SHARED = {"ab": 3, "ac": 2, "bc": 2, "ad": 1, "bd": 1, "cd": 1}
"""Depth of the closest common ancestor of two leaves; that of others is 0."""


def fractions_of(codes, beta):
    """Definitions 5 to 9 of 004 in fractions: what is left to climb from the deepest level, per pair of ends."""
    steps = [Fraction(1, level**beta) for level in range(1, 5)]
    down = [sum(steps[depth:], Fraction(0)) / sum(steps) for depth in range(5)]
    tree, line = codes.axes
    order = tree.taxonomy.leaf_labels

    def shared(lo, hi):
        return DEPTH[order[lo]] if lo == hi else SHARED.get("".join(sorted(order[lo] + order[hi])), 0)

    def depth(lo, hi):
        return min(shared(one, other) for one in range(lo, hi + 1) for other in range(lo, hi + 1))

    values = [Fraction(value) for value in line.values]
    width = (values[-1] - values[0]) or 1
    return [
        [[down[depth(lo, hi)] if lo <= hi else None for hi in range(len(order))] for lo in range(len(order))],
        [[(high - low) / width for high in values] for low in values],
    ]


@pytest.mark.parametrize("beta", [0, 1, 2])
@given(rows=st.lists(st.tuples(st.sampled_from(LEAVES), st.integers(0, 6)), min_size=4), k=st.integers(2, 4))
@settings(max_examples=20, deadline=None)
def test_same_classes_by_the_definitions_on_unbalanced_trees(beta, rows, k):
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64}, orient="row")
    policy = Policy.build(k=2, quasi_identifiers=["a", "b"], hierarchies={"a": {"tree": UNBALANCED}})
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    same_classes(codes, cluster(codes, k, beta=beta), *plain(codes, k, tables=fractions_of(codes, beta)))


def test_a_shallow_leaf_is_charged_its_own_way():
    """k = 2, uniform weights; e climbs two levels of four to the root, d three of four, a and b four."""
    frame = pl.DataFrame({"a": ["e", "a", "a", "b", "b"]})
    policy = Policy.build(k=2, quasi_identifiers=["a"], hierarchies={"a": {"tree": UNBALANCED}})
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    tree = codes.axes[0].taxonomy
    costs = kaca.Levels(0).node_costs(tree)
    root, leaf = 0, tree.leaf_node[tree.leaf_labels.index("e")]
    assert costs[root] - costs[leaf] == 0.5  # the deepest leaf's way, which `whd` charges, is 1


def test_two_small_classes_merge_whole():
    codes = line(1, 2, 90, 91)
    assert classes_of(codes, cluster(codes, 2)) == [[0, 1], [2, 3]]


def test_a_class_of_less_than_2k_together_joins_whole():
    codes = line(1, 2, 2, 2, 2)
    assert classes_of(codes, cluster(codes, 3)) == [[0, 1, 1, 1, 1]]


def test_only_a_stub_of_a_large_class_joins():
    """1 + 5 = 2k: two records join, and three stay as they are."""
    codes = line(1, 2, 2, 2, 2, 2)
    assert classes_of(codes, cluster(codes, 3)) == [[0, 1, 1], [1, 1, 1]]


def test_the_distance_counts_those_who_join():
    """Class 10 has 1 record and k = 3. To 12, all four: 5 * 2 = 10. To 7, a stub of two: 3 * 3 = 9; all five: 18."""
    codes = line(*[7] * 5, 10, *[12] * 4)
    assert classes_of(codes, cluster(codes, 3)) == [[0, 0, 0], [0, 0, 1], [2, 2, 2, 2]]


def test_the_stub_of_a_merged_class_is_what_lies_nearest_and_its_trunk_shrinks():
    """First 0 joins 1 1 1 (k = 3, 4 records), then 3 and 3 need one: the stub is a 1, not the 0."""
    codes = line(0, 1, 1, 1, 3, 3, 100, 100, 100)
    assert classes_of(codes, cluster(codes, 3, FixedDraws(0.0, 0.0))) == [[0, 1, 1], [1, 2, 2], [3, 3, 3]]
    codes = line(0, 1, 1, 2, 4, 4, 100, 100, 100)  # 0 with 1 1, then 2 with them, then 4 4 takes the 2
    labels = cluster(codes, 3, FixedDraws(0.0, 0.0, 0.0))
    assert classes_of(codes, labels) == [[0, 1, 1], [2, 3, 3], [4, 4, 4]]


def test_ties_go_to_the_first_class():
    codes = line(1, 1, 1, 2, 3, 3, 3)
    assert classes_of(codes, cluster(codes, 3)) == [[0, 0, 0, 1], [2, 2, 2]]


def test_exact_classes_of_k_stay_as_they_are():
    codes = line(*[1] * 3, *[2] * 40, *[9] * 4)
    assert sorted(np.bincount(cluster(codes, 3))) == [3, 4, 40]


def test_sizes():
    codes = numbers(np.random.default_rng(1).integers(0, 50, (1003, 3)))
    sizes = np.bincount(cluster(codes, 10))
    assert codes.distinct.counts.max() < 10
    assert sizes.min() >= 10
    assert sizes.max() < 20
    assert sizes.sum() == 1003


def test_the_measure_of_the_policy_does_not_matter_and_its_weights_do():
    frame = pl.DataFrame(np.random.default_rng(5).integers(0, 30, (120, 2)), schema=["a", "b"], orient="row")

    def labels(weight, measure="ncp"):
        columns = {
            "a": {"role": "quasi", "weight": weight, "hierarchy": {"intervals": {"width": 3}}},
            "b": {"role": "quasi"},
        }
        policy = Policy(privacy={"k": 2}, columns=columns)
        return cluster(encode(typed_quasi_identifiers(frame, policy), policy), 4, measure=measure).tolist()

    assert labels(1.0, "ncp") == labels(1.0, "height")
    assert labels(1.0) != labels(9.0)


def test_calls_of_the_kernel_do_not_change_the_result(monkeypatch):
    assert_steps_do_not_matter(monkeypatch, "kaca", {"STEP": 1000})


def test_all_equal_rows_are_one_class():
    assert cluster(numbers(np.zeros((25, 2), np.int64)), 4).tolist() == [0] * 25


def test_row_order_does_not_matter_and_seeds_do():
    assert_only_the_seed_decides("kaca")


def test_a_table_that_would_take_too_long_is_refused():
    codes = line(*range(50), 50, 50)  # 51 classes, 50 of them below 2
    assert np.bincount(cluster(codes, 2, limit=2550)).min() >= 2
    with pytest.raises(InfeasibleError, match=r"2,550 distances for 51 distinct rows, about 1 min.* 'k-member'"):
        cluster(codes, 2, limit=2549)


def test_the_estimate_of_the_time_is_that_of_the_work(monkeypatch):
    monkeypatch.setattr(kaca, "SPEED", 1)
    with pytest.raises(InfeasibleError, match="about 42 min"):
        cluster(line(*range(50)), 2, limit=1)  # 2,500 s


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"beta": 0.5}, r"'beta' must be a number from 1 to 100"),
        ({"beta": True}, "'beta' must be a number"),
        ({"limit": 0}, "'limit' must be an integer of at least 1; got 0"),
        ({"limit": 1.5}, "'limit' must be an integer of at least 1"),
        ({"limit": True}, "'limit' must be an integer of at least 1"),
        ({"gamma": 1}, "has no parameter 'gamma'"),
    ],
)
def test_wrong_parameters(parameters, fault):
    with pytest.raises(PolicyError, match=fault):
        ALGORITHMS.make("kaca", parameters)
