"""CB: its steps by hand, and the same partition as a plain version of it."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from kohort.algorithms import ALGORITHMS, Task, cb
from kohort.encode import LineAxis, encode
from kohort.errors import PolicyError
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.table import typed_quasi_identifiers
from oracles.plain_kmember import dense_tables
from property.strategies import cases

NCP = MEASURES.make("ncp", {})


def table(array):
    frame = pl.DataFrame(np.asarray(array), schema=[f"c{j}" for j in range(np.shape(array)[1])], orient="row")
    policy = Policy.build(k=2, quasi_identifiers=frame.columns)
    return encode(typed_quasi_identifiers(frame, policy), policy)


def cluster(codes, k, seed=3, measure=NCP, shares=None, **parameters):
    progress = (lambda share: None) if shares is None else shares.append
    task = Task(codes, measure, compile_costs(measure, codes.axes), k, np.random.default_rng(seed), progress)
    return ALGORITHMS.make("cb", parameters).cluster(task)


class Plain:
    """The algorithm over lists, one record at a time, straight from its description."""

    def __init__(self, codes, costs, k, seed, rounds):
        order = codes.distinct.order
        self.drawn = order[np.random.default_rng(seed).permutation(len(order))]
        self.rows, self.axes, self.costs = codes.array[self.drawn], codes.axes, costs
        self.tables, self.k, self.rounds = dense_tables(costs), k, rounds

    def cost(self, members):
        rows = self.rows[list(members)]
        return sum(int(table[lo, hi]) for table, lo, hi in zip(self.tables, rows.min(0), rows.max(0), strict=True))

    def place(self, axis, code):
        """A position or the code of a leaf, None for missing."""
        if code == self.axes[axis].missing_code:
            return None
        return int(self.costs.flat[self.costs.offset[axis] + code] if self.is_line(axis) else code)

    def is_line(self, axis):
        return isinstance(self.axes[axis], LineAxis)

    def places(self, i):
        return [self.place(axis, code) for axis, code in enumerate(self.rows[i])]

    def distance(self, centre, i):
        total = 0
        for axis, (here, there) in enumerate(zip(centre, self.places(i), strict=True)):
            if not self.is_line(axis):
                last = self.axes[axis].missing_code
                total += int(self.tables[axis, last if here is None else here, last if there is None else there])
            elif here is None or there is None:
                total += 0 if here is there else int(self.costs.full[axis])
            else:
                total += abs(here - there)
        return total

    def centre(self, members):
        return [self.middle(values) for values in zip(*map(self.places, members), strict=True)]

    def middle(self, values):
        present = [value for value in values if value is not None]
        if 2 * len(present) < len(values):
            return None
        return (2 * sum(present) + len(present)) // (2 * len(present))

    def divided(self, members):
        if len(members) < 2 * self.k:
            return [members]
        first = members[0]
        others = [i for i in members[1:] if list(self.rows[i]) != list(self.rows[first])]
        centres = [self.places(first), self.places(others[0] if others else members[1])]
        tries = []
        for _ in range(self.rounds):
            sides = self.one_round(members, centres)
            tries.append((sum(len(side) * self.cost(side) for side in sides), sides))
            centres = [self.centre(side) for side in sides]
        best = min(tries, key=lambda found: found[0])[1]
        return [found for side in best for found in self.divided(sorted(side))]

    def one_round(self, members, centres):
        sides = [], []
        for i in members:
            number = min((0, 1), key=lambda side: (self.distance(centres[side], i), len(sides[side]), side))
            sides[number].append(i)
        for small, large, centre in ((sides[0], sides[1], centres[0]), (sides[1], sides[0], centres[1])):
            while len(small) < self.k:
                price = [self.cost([*small, i]) if small else self.distance(centre, i) for i in large]
                small.append(large.pop(price.index(min(price))))
                large.sort()
        return sides


@pytest.mark.parametrize("rounds", [1, 4])
@pytest.mark.parametrize("measure", ["ncp", "leaf"])
@given(case=cases(max_rows=40))
@settings(max_examples=30, deadline=None)
def test_same_partition_as_the_plain_version(rounds, measure, case):
    frame, policy = case
    codes, k = encode(typed_quasi_identifiers(frame, policy), policy), policy.privacy.k
    made = MEASURES.make(measure, {})
    labels = cluster(codes, k, measure=made, rounds=rounds)
    sizes = np.bincount(labels)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    plain = Plain(codes, compile_costs(made, codes.axes), k, 3, rounds)
    expected = sorted(sorted(plain.drawn[members]) for members in plain.divided(list(range(len(plain.rows)))))
    assert sorted(sorted(np.flatnonzero(labels == label)) for label in range(len(sizes))) == expected


def test_two_heaps_by_hand():
    """Whatever the first centres are, the means move into the heaps."""
    codes = table([[1], [2], [3], [90], [91], [92]])
    for seed in range(10):
        labels = cluster(codes, 3, seed)
        assert len(set(labels[:3])) == len(set(labels[3:])) == 1
        assert labels[0] != labels[3]


def test_a_lone_outlier_borrows_its_nearest():
    """Wherever the division begins, 99 takes 9 with it: no other pair costs less."""
    labels = cluster(table([[0], [1], [9], [99]]), 2)
    assert labels[2] == labels[3] != labels[0] == labels[1]


def test_a_centre_without_records_starts_a_group():
    """Round 2 of equal rows and one other: both groups end with k all the same."""
    sizes = np.bincount(cluster(table([[5]] * 9 + [[6]]), 5))
    assert sorted(sizes) == [5, 5]


def test_work_in_small_steps_is_the_same_work(monkeypatch):
    codes = table(np.random.default_rng(3).integers(0, 30, (1500, 3)))
    whole = cluster(codes, 5)
    monkeypatch.setattr(cb, "WORK", 1)
    shares = []
    np.testing.assert_array_equal(cluster(codes, 5, shares=shares), whole)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 100


def test_the_seed_decides_and_the_row_order_does_not():
    array = np.random.default_rng(5).integers(0, 9, (400, 4))
    mixed = np.random.default_rng(6).permutation(array)
    one, again, other = (cluster(table(array), 7, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert _rows_by_class(array, one) == _rows_by_class(mixed, cluster(table(mixed), 7, 1))
    assert _rows_by_class(array, one) != _rows_by_class(array, other)


def _rows_by_class(array, labels):
    return sorted(sorted(map(tuple, array[labels == label].tolist())) for label in np.unique(labels))


def test_equal_rows_are_halved():
    """25 = 13 + 12, and these 7 + 6 and 6 + 6: ties go to the smaller group."""
    assert sorted(np.bincount(cluster(table(np.zeros((25, 2), int)), 4))) == [6, 6, 6, 7]


def test_fewer_than_2k_records_are_one_class():
    assert len(set(cluster(table([[1], [5], [9]]), 2))) == 1
    assert len(set(cluster(table([[1], [5]]), 2))) == 1


def test_more_rounds_lose_less():
    codes = table(np.random.default_rng(8).integers(0, 60, (3000, 3)))
    loss = [np.mean([_loss(codes, cluster(codes, 10, seed, rounds=rounds)) for seed in range(4)]) for rounds in (1, 15)]
    assert loss[1] < loss[0]


def _loss(codes, labels):
    return sum((labels == label).sum() * np.ptp(codes.array[labels == label], axis=0).sum() for label in set(labels))


@pytest.mark.parametrize("rounds", [0, -1, 2.0, True, "many"])
def test_wrong_parameters(rounds):
    with pytest.raises(PolicyError, match=f"'rounds' must be a whole number, 1 or more; got {rounds!r}"):
        ALGORITHMS.make("cb", {"rounds": rounds})
