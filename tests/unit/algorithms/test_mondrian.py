"""Mondrian: the same partition as a plain recursion over lists, and what its modes promise."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import TreeAxis, encode
from kohort.errors import PolicyError
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases

NCP = MEASURES.make("ncp", {})
MODES = ["strict", "relaxed"]
CATEGORIES = ["taxonomy", "children", "order"]


def encoded(frame, policy):
    return encode(typed_quasi_identifiers(frame, policy), policy)


def table(k=2, hierarchies=None, **columns):
    frame = pl.DataFrame(columns)
    return encoded(frame, Policy.build(k=k, quasi_identifiers=frame.columns, hierarchies=hierarchies or {}))


def cluster(codes, k, measure=NCP, costs=None, shares=None, **parameters):
    costs = costs or compile_costs(measure, codes.axes)
    progress = (lambda share: None) if shares is None else shares.append
    return ALGORITHMS.make("mondrian", parameters).cluster(
        Task(codes, measure, costs, k, np.random.default_rng(0), progress)
    )


def partition(labels, of=None):
    """Classes as a sorted list of sorted members."""
    of = list(range(len(labels))) if of is None else of
    classes = {}
    for member, label in zip(of, labels, strict=True):
        classes.setdefault(int(label), []).append(member)
    return sorted(sorted(members) for members in classes.values())


# -- the plain recursion ---------------------------------------------------------------------------


class Plain:
    """Mondrian over lists of records, one record at a time, straight from its description."""

    def __init__(self, codes, tables, k, mode, categories):
        self.rows = codes.array[codes.distinct.order].tolist()
        self.axes, self.tables, self.k = codes.axes, tables, k
        self.relaxed, self.categories = mode == "relaxed", categories

    def classes(self, members):
        if len(members) < 2 * self.k:
            return [members]
        sides = {j: sorted({self.rows[i][j] for i in members}) for j in range(len(self.axes))}
        wide = [j for j in sides if len(sides[j]) > 1]
        wide.sort(key=lambda j: -self.tables[j, sides[j][0], sides[j][-1]])  # stable: ties to the first
        for j in wide:
            parts = self.cut(members, j)
            if parts:
                return [found for part in parts for found in self.classes(part)]
        if not self.relaxed:
            return [members]
        ordered = sorted(members, key=lambda i: (self.rows[i][(wide or [0])[0]], i))
        return self.classes(ordered[: len(members) // 2]) + self.classes(ordered[len(members) // 2 :])

    def cut(self, members, j):
        if isinstance(self.axes[j], TreeAxis) and self.categories != "order":
            return self.children(members, j)
        ordered = sorted(members, key=lambda i: (self.rows[i][j], i))
        values = [self.rows[i][j] for i in ordered]
        borders = [b for b in range(1, len(values)) if self.relaxed or values[b] != values[b - 1]]
        if self.axes[j].missing_code in values:
            border = values.index(self.axes[j].missing_code)
            if min(border, len(values) - border) >= self.k:
                borders = [border]
        best = max(borders, key=lambda b: min(b, len(values) - b))  # the first of equals
        return [ordered[:best], ordered[best:]] if min(best, len(values) - best) >= self.k else None

    def children(self, members, j):
        axis, tree = self.axes[j], self.axes[j].taxonomy
        present = [self.rows[i][j] for i in members if self.rows[i][j] != axis.missing_code]
        above = tree.lca(min(present), max(present))
        parts = {}
        for i in sorted(members, key=lambda i: (self.rows[i][j], i)):
            child = -1
            if self.rows[i][j] != axis.missing_code:
                child = int(tree.leaf_node[self.rows[i][j]])
                while child != above and tree.parent[child] != above:
                    child = int(tree.parent[child])
            parts.setdefault(child, []).append(i)
        large = [part for part in parts.values() if len(part) >= self.k]
        small = [i for part in parts.values() if len(part) < self.k for i in part]
        if small and self.categories == "children":
            return None
        if small and len(small) < self.k and large:
            smallest = min(large, key=len)
            large.remove(smallest)
            small += smallest
        found = large + ([small] if small else [])
        return found if len(found) > 1 else None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("categories", CATEGORIES)
@pytest.mark.parametrize("measure", ["ncp", "leaf", "whd"])
@given(case=cases(max_rows=60))
@settings(max_examples=25, deadline=None)
def test_same_partition_as_the_plain_recursion(mode, categories, measure, case):
    frame, policy = case
    codes, k, made = encoded(frame, policy), policy.privacy.k, MEASURES.make(measure, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compile, "TABLE_LIMIT", 4)  # large taxonomies, too
        costs = compile_costs(made, codes.axes)
    labels = cluster(codes, k, made, costs, mode=mode, categories=categories)
    plain = Plain(codes, dense_tables(costs), k, mode, categories)
    expected = sorted(sorted(members) for members in plain.classes(list(range(frame.height))))
    assert partition(labels[codes.distinct.order]) == expected


# -- by hand ---------------------------------------------------------------------------------------


def test_strict_cuts_beside_the_median_value():
    codes = table(age=[1, 2, 2, 2, 9, 9, 9])
    assert partition(cluster(codes, 2), of=[1, 2, 2, 2, 9, 9, 9]) == [[1, 2, 2, 2], [9, 9, 9]]


def test_strict_finds_the_cut_below_a_frequent_median():
    """Cutting above the value 5 would leave one record; below it is allowed."""
    values = [1, 1, 5, 5, 5, 5, 5, 9]
    assert partition(cluster(table(age=values), 2), of=values) == [[1, 1], [5, 5, 5, 5, 5, 9]]


def test_relaxed_divides_equal_values():
    values = [5, 5, 5, 5, 5, 5, 5, 9]
    assert partition(cluster(table(age=values), 2, mode="relaxed"), of=values) == [[5, 5]] * 3 + [[5, 9]]


def test_the_widest_axis_is_cut_first_and_weights_count():
    ages, heights = [0, 0, 10, 10], [0, 5, 0, 5]
    frame = pl.DataFrame({"age": ages, "height": heights})
    policy = Policy.build(k=2, quasi_identifiers=["age", "height"])
    assert partition(cluster(encoded(frame, policy), 2)) == [[0, 1], [2, 3]]
    heavy = Policy.model_validate(
        {
            "privacy": {"k": 2},
            "columns": {"age": {"role": "quasi"}, "height": {"role": "quasi", "weight": 2.0}},
        }
    )
    assert partition(cluster(encoded(frame, heavy), 2)) == [[0, 2], [1, 3]]


def test_missing_values_are_cut_off_first():
    ages = [1, 2, 3, 4, 5, 6, None, None]
    labels = cluster(table(age=ages), 2)
    assert [6, 7] in partition(labels)
    lone = cluster(table(age=[1, 2, 3, 4, None]), 2)
    assert partition(lone) == [[0, 1], [2, 3, 4]]


ILLNESS = {"tree": {"Lung": ["Asthma", "Flu"], "Skin": ["Acne", "Eczema"], "Eye": ["Iritis"]}}


def test_categories_are_cut_along_the_taxonomy():
    ill = ["Asthma", "Asthma", "Flu", "Flu", "Acne", "Eczema", "Iritis", "Iritis"]
    codes = table(ill=ill, hierarchies={"ill": ILLNESS})
    for categories in ("taxonomy", "children"):
        assert partition(cluster(codes, 2, categories=categories)) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_small_children_are_pooled():
    ill = ["Asthma"] * 4 + ["Acne"] * 3 + ["Iritis"]
    codes = table(ill=ill, hierarchies={"ill": ILLNESS})
    assert partition(cluster(codes, 2)) == [[0, 1, 2, 3], [4, 5, 6, 7]]  # Iritis joins the smaller child
    assert partition(cluster(codes, 2, categories="children")) == [list(range(8))]


# -- promises --------------------------------------------------------------------------------------


@pytest.mark.parametrize("categories", CATEGORIES)
@given(case=cases(max_rows=60))
@settings(max_examples=25, deadline=None)
def test_strict_classes_are_apart_and_hold_whole_rows(categories, case):
    """Any two classes share no value on some axis; unless children are pooled, their boxes are apart there."""
    frame, policy = case
    codes = encoded(frame, policy)
    labels = cluster(codes, policy.privacy.k, categories=categories)
    classes = [codes.array[labels == label] for label in np.unique(labels)]
    assert min(map(len, classes)) >= policy.privacy.k
    for one, two in combinations(classes, 2):
        assert any(not set(one[:, j]) & set(two[:, j]) for j in range(len(codes.axes)))
        if categories != "taxonomy":
            assert ((one.max(0) < two.min(0)) | (two.max(0) < one.min(0))).any()


@pytest.mark.parametrize("categories", CATEGORIES)
@given(case=cases(max_rows=60))
@settings(max_examples=25, deadline=None)
def test_relaxed_classes_have_k_to_2k_minus_1_records(categories, case):
    frame, policy = case
    k = policy.privacy.k
    sizes = np.bincount(cluster(encoded(frame, policy), k, mode="relaxed", categories=categories))
    assert k <= sizes.min() <= sizes.max() < 2 * k


@pytest.mark.parametrize("mode", MODES)
@given(case=cases())
@settings(max_examples=25, deadline=None)
def test_row_order_does_not_matter(mode, case):
    frame, policy = case
    mixed = frame[np.random.default_rng(1).permutation(frame.height)]
    found = []
    for given_frame in (frame, mixed):
        codes = encoded(given_frame, policy)
        labels = cluster(codes, policy.privacy.k, mode=mode)
        found.append(sorted(sorted(map(tuple, codes.array[labels == label])) for label in np.unique(labels)))
    assert found[0] == found[1]


@pytest.mark.parametrize("mode", MODES)
def test_work_in_small_steps_is_the_same_work(mode, monkeypatch):
    array = np.random.default_rng(3).integers(0, 30, (2000, 3))
    codes = table(a=array[:, 0], b=array[:, 1], c=array[:, 2])
    whole = cluster(codes, 5, mode=mode)
    monkeypatch.setattr("kohort.algorithms.mondrian.WORK", 1)
    shares = []
    np.testing.assert_array_equal(cluster(codes, 5, shares=shares, mode=mode), whole)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 100


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"mode": "loose"}, "'mode' must be 'strict' or 'relaxed'; got 'loose'"),
        ({"categories": "tree"}, "'categories' must be 'taxonomy', 'children' or 'order'; got 'tree'"),
    ],
)
def test_wrong_parameters(parameters, sentence):
    with pytest.raises(PolicyError, match=sentence):
        ALGORITHMS.make("mondrian", parameters)
