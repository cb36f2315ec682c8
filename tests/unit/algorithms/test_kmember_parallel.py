"""k-member-parallel: the same partition as a plain version, whatever the threads."""

import itertools
import os
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS, kmember_parallel
from kohort.codes.encode import LineAxis, encode
from kohort.errors import InfeasibleError, PolicyError
from kohort.kernels.search import scan
from kohort.measures import MEASURES, compile
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from oracles import exact
from oracles.plain_kmember import dense_tables
from property.strategies import cases

NCP = MEASURES.make("ncp", {})


def table(array):
    frame = pl.DataFrame(np.asarray(array), schema=[f"c{j}" for j in range(np.shape(array)[1])], orient="row")
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    return encode(typed_quasi_identifiers(frame, policy), policy)


def cluster(codes, k, seed=3, measure=NCP, shares=None, classes=None, **parameters):
    progress = (lambda share: None) if shares is None else shares.append
    sensitive = None if classes is None else table(classes[:, None])
    costs = compile_costs(measure, codes.axes)
    task = Task(codes, measure, costs, k, np.random.default_rng(seed), progress, sensitive)
    return ALGORITHMS.make("k-member-parallel", parameters).cluster(task)


class Fixed:
    """Costs as they are compiled, in whole numbers."""

    def __init__(self, codes, costs):
        self.costs, self.tables = costs, dense_tables(costs).tolist()

    def position(self, axis, code):
        here = int(self.costs.flat[self.costs.offset[axis] + code])
        return None if here < 0 else here

    def full(self, axis):
        return int(self.costs.full[axis])

    def mean(self, values):
        return sum(values) // len(values)


class Exact:
    """Costs as fractions, from the values and trees themselves."""

    def __init__(self, codes):
        self.axes = codes.axes
        self.tables = [
            [[table[lo, hi] for hi in range(axis.size)] for lo in range(axis.size)]
            for axis, table in zip(codes.axes, exact.tables("ncp", codes.axes), strict=True)
        ]

    def position(self, axis, code):
        own = self.axes[axis]
        return None if code == own.missing_code else exact.width(own, 0, code)

    def full(self, axis):
        return Fraction(1)

    def mean(self, values):
        return sum(values) / len(values)


class Plain:
    """The algorithm on tuples of codes and a class, straight from its description."""

    def __init__(self, codes, costs, k, seed, groups, classes=None, penalty=0):
        self.axes, self.costs, self.k, self.penalty = codes.axes, costs, k, penalty
        self.tables = costs.tables
        classes = [0] * len(codes.array) if classes is None else classes.tolist()
        self.records = sorted((*row, which) for row, which in zip(codes.array.tolist(), classes, strict=True))
        self.counts = Counter(self.records)
        self.rows = sorted(self.counts)
        rng = np.random.default_rng(seed)
        self.start = self.records[rng.integers(len(self.records))]
        number = min(groups or int(np.ceil(np.sqrt(len(self.records)))), len(self.rows))
        self.centres = [self.places(self.rows[i]) for i in sorted(rng.choice(len(self.rows), number, replace=False))]

    def cost(self, rows):
        *sides, _ = zip(*rows, strict=True)
        return sum(table[min(side)][max(side)] for table, side in zip(self.tables, sides, strict=True))

    def fine(self, members, row):
        votes = Counter(which for *_, which in members)
        return self.penalty if votes[row[-1]] < max(votes.values()) else 0

    def loss(self, members, row):
        return (len(members) + 1) * self.cost([*members, row]) + self.fine(members, row)

    # -- groups

    def place(self, axis, code):
        if isinstance(self.axes[axis], LineAxis):
            return self.costs.position(axis, code)
        return code

    def places(self, row):
        return tuple(self.place(axis, code) for axis, code in enumerate(row[:-1]))

    def distance(self, centre, row):
        total = 0
        for axis, (here, there) in enumerate(zip(centre, self.places(row), strict=True)):
            if not isinstance(self.axes[axis], LineAxis):
                total += self.tables[axis][here][there]
            elif here is None or there is None:
                total += 0 if here is there else self.costs.full(axis)
            else:
                total += abs(here - there)
        return total

    def centre(self, rows):
        return tuple(
            self.middle(axis, [self.place(axis, row[axis]) for row in rows for _ in range(self.counts[row])])
            for axis in range(len(self.axes))
        )

    def middle(self, axis, values):
        if isinstance(self.axes[axis], LineAxis):
            known = [value for value in values if value is not None]
            return self.costs.mean(known) if known else None
        return min(values, key=lambda value: (-values.count(value), value))

    def grouped(self):
        groups = None
        for _ in range(kmember_parallel.ROUNDS):
            used = self.centres
            nearest = {
                row: min(range(len(self.centres)), key=lambda g, row=row: self.distance(self.centres[g], row))
                for row in self.rows
            }
            if nearest == groups:
                break
            groups = nearest
            members = defaultdict(list)
            for row, group in groups.items():
                members[group].append(row)
            self.centres = [self.centre(members[g]) if g in members else old for g, old in enumerate(self.centres)]
        return {row: (group, self.distance(used[group], row)) for row, group in groups.items()}

    # -- seeds

    def seeds(self):
        groups = self.grouped()
        offers = defaultdict(list)
        for row in self.rows:
            for copy in range(self.counts[row]):
                if (row, copy) != (self.start, 0):
                    group, far = groups[row]
                    offers[group].append((copy, far, row))
        queues = {group: sorted(offers[group]) for group in sorted(offers)}
        seeds = [self.start]
        while len(seeds) < len(self.records) // self.k:
            there = [group for group in queues if queues[group]]
            best = max(there, key=lambda g: (sum(self.cost([queues[g][0][2], seed]) for seed in seeds), -g))
            seeds.append(queues[best].pop(0)[2])
        return seeds

    # -- growth

    def clusters(self):
        clusters = [[seed] for seed in self.seeds()]
        left = self.counts - Counter(row for members in clusters for row in members)
        while any(len(members) < self.k for members in clusters):
            wishes = defaultdict(list)
            for number, members in enumerate(clusters):
                if len(members) < self.k:
                    row = min(sorted(left), key=lambda row, members=members: self.loss(members, row))
                    wishes[row].append((self.growth(members, row), number))
            for row, who in wishes.items():
                for _, number in sorted(who)[: left[row]]:
                    clusters[number].append(row)
                    left[row] -= 1
            left = +left
        for row in sorted(left.elements()):
            min(clusters, key=lambda members, row=row: self.growth(members, row)).append(row)
        return [sorted(members) for members in clusters]

    def growth(self, members, row):
        return self.loss(members, row) - len(members) * self.cost(members)


@pytest.mark.parametrize("measure", ["ncp", "leaf"])
@pytest.mark.parametrize("wide", [False, True], ids=["tables", "ranges and subtraction"])
@pytest.mark.parametrize("few", [None, 1, 3], ids=["many candidates", "one", "three"])
@given(case=cases(max_rows=40), groups=st.sampled_from([None, 1, 4]))
@settings(max_examples=25, deadline=None)
def test_same_partition_as_the_plain_version(measure, wide, few, case, groups):
    frame, policy = case
    codes, k = encode(typed_quasi_identifiers(frame, policy), policy), policy.privacy.k
    made = MEASURES.make(measure, {})
    with pytest.MonkeyPatch.context() as patch:
        if wide:  # as if every taxonomy and every line were a large one
            patch.setattr(compile, "TABLE_LIMIT", 0)
            patch.setattr(scan, "LINE_LIMIT", 0)
        if few:
            patch.setattr(kmember_parallel, "candidates", lambda k: few)
        labels = cluster(codes, k, measure=made, groups=groups)
        costs = Fixed(codes, compile_costs(made, codes.axes))
    assert records_of(codes, labels) == Plain(codes, costs, k, 3, groups).clusters()


def records_of(codes, labels, classes=None):
    """The codes and classes of the members of each cluster."""
    rows = np.column_stack([codes.array, np.zeros(len(labels), int) if classes is None else classes])
    return [sorted(map(tuple, rows[labels == label].tolist())) for label in range(labels.max() + 1)]


@pytest.mark.parametrize("few", [None, 1, 3], ids=["many candidates", "one", "three"])
@given(case=cases(max_rows=40), penalty=st.sampled_from([0.01, 0.3, 1.0, 20.0]), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_same_partition_with_a_class_penalty(few, case, penalty, seed):
    frame, policy = case
    codes, k = encode(typed_quasi_identifiers(frame, policy), policy), policy.privacy.k
    classes = np.random.default_rng(seed).integers(0, 3, frame.height)
    classes = np.unique(classes, return_inverse=True)[1]
    with pytest.MonkeyPatch.context() as patch:
        if few:
            patch.setattr(kmember_parallel, "candidates", lambda k: few)
        labels = cluster(codes, k, classes=classes, class_penalty=penalty)
    costs = compile_costs(NCP, codes.axes)
    plain = Plain(codes, Fixed(codes, costs), k, 3, None, classes, int(np.ceil(penalty * costs.full.max())))
    assert records_of(codes, labels, classes) == plain.clusters()


LEAVES = ["a", "b", "c", "d", "e", "f"]
UNBALANCED = {"abc": {"ab": ["a", "b"], "c'": ["c"]}, "def": ["d", "e", "f"]}


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 5) | st.none(), st.sampled_from(LEAVES), st.integers(0, 2)),
        min_size=4,
    ),
    k=st.integers(2, 4),
    penalty=st.sampled_from([0, 1, 2, 20]),
)
@settings(max_examples=40, deadline=None)
def test_same_partition_in_fractions(rows, k, penalty):
    """Each row is a group of its own, so no mean is rounded, and every cost is a fraction."""
    frame = pl.DataFrame([row[:3] for row in rows], schema={"a": pl.Int64, "b": pl.Int64, "c": pl.String}, orient="row")
    policy = Policy.build(k=2, quasi_identifiers=["a", "b", "c"], hierarchies={"c": {"tree": UNBALANCED}})
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    classes = np.unique([row[3] for row in rows], return_inverse=True)[1]
    labels = cluster(codes, k, classes=classes, groups=1000, class_penalty=float(penalty))
    known = classes if penalty else None  # without a penalty, records that differ in class alone are one row
    plain = Plain(codes, Exact(codes), k, 3, 1000, known, Fraction(penalty))
    assert records_of(codes, labels, known) == plain.clusters()


def test_a_class_penalty_makes_classes_of_one_value():
    """Two clusters around 0 and 9: the records between have no side of their own but their class."""
    codes, classes = table([[0], [4], [5], [9]]), np.array([0, 1, 0, 1])
    alone = {tuple(np.flatnonzero(cluster(codes, 2) == label)) for label in (0, 1)}
    assert alone == {(0, 1), (2, 3)}
    penalized = cluster(codes, 2, classes=classes, class_penalty=2.0)
    assert {tuple(np.flatnonzero(penalized == label)) for label in (0, 1)} == {(0, 2), (1, 3)}


def test_a_release_with_a_class_penalty_says_how_homogeneous_it_is():
    frame = pl.DataFrame({"a": [0, 4, 5, 9], "ill": ["x", "y", "x", "y"]})
    policy = Policy.build(
        k=2, quasi_identifiers=["a"], sensitive=["ill"], seed=3,
        algorithm={"name": "k-member-parallel", "class_penalty": 2.0},
    )  # fmt: skip
    assert kohort.anonymize(frame, policy).facts["records_in_classes_of_one_value"] == 1.0
    with pytest.raises(PolicyError, match="'column' is for a 'class_penalty' above 0"):
        ALGORITHMS.make("k-member-parallel", {"column": "ill"})


def test_few_candidates_are_as_good_as_many(monkeypatch):
    """A cluster that looks at all rows before every proposal comes to the same."""
    codes = table(np.random.default_rng(1).integers(0, 40, (700, 3)))
    whole = cluster(codes, 6)
    monkeypatch.setattr(kmember_parallel, "candidates", lambda k: 1)
    np.testing.assert_array_equal(cluster(codes, 6), whole)


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "work"), [(1, 20_000_000), (7, 20_000_000), (3, 1)])
def test_threads_and_steps_change_nothing(monkeypatch, threads, work):
    codes = table(np.random.default_rng(2).integers(0, 30, (900, 3)))
    whole = cluster(codes, 5)
    monkeypatch.setattr(os, "cpu_count", lambda: threads)
    monkeypatch.setattr(kmember_parallel, "WORK", work)
    shares = []
    np.testing.assert_array_equal(cluster(codes, 5, shares=shares), whole)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_sizes_are_k_except_for_left_overs():
    sizes = np.bincount(cluster(table(np.random.default_rng(1).integers(0, 50, (1003, 3))), 10))
    assert len(sizes) == 100
    assert sizes.min() == 10
    assert sizes.sum() == 1003
    assert (sizes > 10).sum() <= 3


def test_equal_rows_can_be_seeds_more_than_once():
    assert sorted(np.bincount(cluster(table(np.zeros((25, 2), int)), 4))) == [4, 4, 4, 4, 4, 5]


def test_one_cluster_needs_no_second_seed():
    assert len(set(cluster(table([[1], [5], [9]]), 2))) == 1


def test_the_row_order_does_not_matter_and_the_seed_does():
    array = np.random.default_rng(5).integers(0, 9, (400, 4))
    mixed = np.random.default_rng(6).permutation(array)
    one = _rows_by_class(array, cluster(table(array), 7, 1))
    assert one == _rows_by_class(mixed, cluster(table(mixed), 7, 1))
    assert one != _rows_by_class(array, cluster(table(array), 7, 2))


def _rows_by_class(array, labels):
    return sorted(sorted(map(tuple, array[labels == label].tolist())) for label in np.unique(labels))


def test_a_large_table_is_refused_before_any_work():
    codes = table(np.array(list(itertools.product(range(30), range(30)))))
    with pytest.raises(InfeasibleError, match=r"450 clusters of 900 distinct rows.*use 'k-member'"):
        cluster(codes, 2, limit=450 * 900 - 1)
    assert cluster(codes, 2, limit=450 * 900).max() == 449


@pytest.mark.parametrize("name", ["groups", "limit"])
@pytest.mark.parametrize("value", [0, 2.0, True, "many"])
def test_wrong_parameters(name, value):
    with pytest.raises(PolicyError, match=f"'{name}' must be an integer of at least 1; got {value!r}"):
        ALGORITHMS.make("k-member-parallel", {name: value})
