"""MDAV: its steps by hand, and the same partition as plain versions of it."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from helpers.tasks import numbers, rows_by_class
from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import LineAxis, encode
from kohort.errors import PolicyError
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases

NCP = MEASURES.make("ncp", {})


def cluster(codes, k, seed=3, measure=NCP, shares=None, **parameters):
    progress = (lambda share: None) if shares is None else shares.append
    task = Task(codes, measure, compile_costs(measure, codes.axes), k, np.random.default_rng(seed), progress)
    return ALGORITHMS.make("mdav", parameters).cluster(task)


def classes(labels):
    return sorted(sorted(np.flatnonzero(labels == label)) for label in np.unique(labels))


def plain_mdav(n, k, from_centre, from_record):
    """MDAV over lists; distances come from two functions, ties go to the first."""
    left, found = list(range(n)), []

    def take(seed):
        others = [i for i in left if i != seed]
        near = [seed, *sorted(others, key=lambda i: from_record(seed, i))[: k - 1]]
        found.append(near)
        left[:] = [i for i in left if i not in near]
        return seed

    def furthest(distance):
        return max(left, key=distance)  # the first of equals

    while len(left) >= 3 * k:
        r = take(furthest(from_centre(left)))
        take(furthest(lambda i, r=r: from_record(r, i)))
    if len(left) >= 2 * k:
        take(furthest(from_centre(left)))
    return [*found, left]


class Plain:
    """Distances in costs."""

    def __init__(self, codes, costs):
        self.order = codes.distinct.order
        self.axes, self.costs, self.rows = codes.axes, costs, codes.array[self.order]
        self.tables = dense_tables(costs)

    def between(self, i, j):
        here, there = self.rows[i], self.rows[j]
        return sum(int(table[a, b]) for table, a, b in zip(self.tables, here, there, strict=True))

    def from_centre(self, left):
        rows = self.rows[left]
        sides = [self.sides(axis, column) for axis, column in enumerate(rows.T)]
        return lambda i: sum(side[code] for side, code in zip(sides, self.rows[i], strict=True))

    def sides(self, axis, column):
        """Cost of {centre, code} for every code of an axis."""
        size, missing = self.costs.size[axis], self.costs.missing[axis]
        if not isinstance(self.axes[axis], LineAxis):
            counts = Counter(column.tolist())
            return self.tables[axis, min(counts, key=lambda code: (-counts[code], code))].tolist()
        start, full = self.costs.offset[axis], int(self.costs.full[axis])
        position = [None if code == missing else int(self.costs.flat[start + code]) for code in range(size)]
        present = [position[code] for code in column if code != missing]
        if 2 * len(present) < len(column):
            return [0 if there is None else full for there in position]
        mean = (2 * sum(present) + len(present)) // (2 * len(present))
        return [full if there is None else abs(there - mean) for there in position]


@pytest.mark.parametrize("measure", ["ncp", "leaf"])
@given(case=cases(max_rows=60))
@settings(max_examples=50, deadline=None)
def test_same_partition_as_the_plain_version(measure, case):
    frame, policy = case
    codes, k = encode(typed_quasi_identifiers(frame, policy), policy), policy.privacy.k
    made = MEASURES.make(measure, {})
    labels = cluster(codes, k, measure=made)
    plain = Plain(codes, compile_costs(made, codes.axes))
    expected = plain_mdav(len(plain.rows), k, plain.from_centre, plain.between)
    assert classes(labels) == sorted(sorted(plain.order[members]) for members in expected)


@pytest.mark.parametrize(("n", "k"), [(200, 3), (61, 5), (63, 9), (59, 20), (9, 2)])
def test_euclidean_is_the_classic_algorithm(n, k):
    array = np.random.default_rng(n).normal(size=(n, 3)) * [1, 50, 0.01]
    scores = (array - array.mean(axis=0)) / array.std(axis=0, ddof=1)

    def from_centre(left):
        return lambda i: ((scores[i] - scores[left].mean(axis=0)) ** 2).sum()

    expected = plain_mdav(n, k, from_centre, lambda i, j: ((scores[i] - scores[j]) ** 2).sum())
    assert classes(cluster(numbers(array), k, distance="euclidean")) == sorted(map(sorted, expected))


def test_euclidean_with_copies_constants_and_dates():
    """A constant column and copies of records neither matter nor hurt."""
    heaps = pl.DataFrame({"day": [0, 0, 1, 70, 70, 71], "same": 4}).with_columns(pl.col("day").cast(pl.Date))
    policy = Policy.build(k=3, quasi_identifiers=heaps.columns)
    codes = encode(typed_quasi_identifiers(heaps, policy), policy)
    assert classes(cluster(codes, 3, distance="euclidean")) == [[0, 1, 2], [3, 4, 5]]


def test_distances_differ():
    """The parameter means something: an outlier stretches a range, but not the bulk of z-scores as much."""
    array = np.random.default_rng(2).lognormal(size=(300, 3))
    assert classes(cluster(numbers(array), 4)) != classes(cluster(numbers(array), 4, distance="euclidean"))


def test_euclidean_refuses_categories_and_missing_values():
    frame = pl.DataFrame({"age": [1, 2, None, 4], "sex": ["f", "m", "f", "m"], "size": [1, 2, 3, 4]})
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    with pytest.raises(PolicyError) as caught:
        cluster(codes, 2, distance="euclidean")
    assert [fault.split(",")[0] for fault in caught.value.faults] == [
        "column 'age': it has missing values",
        "column 'sex': it has categories",
    ]
    assert 'choose distance = "cost"' in caught.value.faults[0]


def test_steps_by_hand():
    """The mean of 0, 1, 2, 50, 98, 99, 200 is 64: 200 is furthest and takes 99; then 0 takes 1; 2, 50, 98 are left."""
    labels = cluster(numbers([[0], [1], [2], [50], [98], [99], [200]]), 2)
    assert classes(labels) == [[0, 1], [2, 3, 4], [5, 6]]
    np.testing.assert_array_equal(labels, [1, 1, 2, 2, 2, 0, 0])


def test_with_3k_left_the_second_record_is_on_the_far_side():
    """0 takes 1; 92 is furthest from 0, though 50 is furthest from the centre of what is left."""
    labels = cluster(numbers([[0], [1], [50], [88], [90], [92]]), 2)
    np.testing.assert_array_equal(labels, [0, 0, 2, 2, 1, 1])


def test_ties_go_to_the_first():
    """Both ends are equally far from the centre 5: 0 is first, and takes the first of the two records 3."""
    labels = cluster(numbers([[10], [9], [3], [3], [0]]), 2)
    np.testing.assert_array_equal(labels, [1, 1, 0, 1, 0])


@pytest.mark.parametrize(
    ("n", "sizes"), [(2, [2]), (5, [5]), (6, [3, 3]), (8, [3, 5]), (9, [3, 3, 3]), (11, [3, 3, 5])]
)
def test_sizes(n, sizes):
    for array in (np.arange(n)[:, None], np.zeros((n, 2), int)):
        assert sorted(np.bincount(cluster(numbers(array), 3))) == sizes


def test_row_order_and_seed_do_not_matter():
    array = np.random.default_rng(5).integers(0, 9, (400, 4))
    mixed = np.random.default_rng(6).permutation(array)
    for distance in ("cost", "euclidean"):
        one, other = (cluster(numbers(array), 7, seed, distance=distance) for seed in (1, 2))
        np.testing.assert_array_equal(one, other)
        again = cluster(numbers(mixed), 7, distance=distance)
        assert rows_by_class(array, one) == rows_by_class(mixed, again)


def test_progress_grows_to_one():
    shares = []
    cluster(numbers(np.random.default_rng(3).integers(0, 30, (1500, 3))), 2, shares=shares)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 10


def test_wrong_parameters():
    with pytest.raises(PolicyError, match="'distance' must be 'cost' or 'euclidean'; got 'far'"):
        ALGORITHMS.make("mdav", {"distance": "far"})
