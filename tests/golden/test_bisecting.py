"""Paper 002 (CB): table 1 -> table 2."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from kohort.measures import MEASURES
from kohort.measures.bounds import lower_bound

ROWS = [(20, 25), (20, 30), (30, 25), (40, 30), (50, 10), (60, 5), (60, 10)]
TABLE_2 = [0, 0, 1, 1, 2, 2, 2]


@pytest.fixture
def seven(example):
    return example([{"age": age, "zip": code} for age, code in ROWS], ["age", "zip"], {})


def test_ncp_of_table_2(seven):
    loss = seven.loss("ncp", TABLE_2)
    assert loss.total * 14 == pytest.approx(2.65)
    assert loss.total == pytest.approx(0.1892857, abs=1e-7)
    assert sum(loss.by_column.values()) * 7 == pytest.approx(0.4 + 0.9 + 1.35)


def partitions(items, k):
    """Every partition into parts of at least k."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(k - 1, len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [item for item in rest if item not in others]
            for parts in partitions(left, k):
                yield [(first, *others), *parts]


def test_table_2_is_the_unique_optimum(seven):
    losses = []
    for parts in partitions(list(range(7)), 2):
        labels = [next(i for i, part in enumerate(parts) if row in part) for row in range(7)]
        losses.append((round(seven.loss("ncp", labels).total * 14, 9), sorted(parts)))
    losses.sort()
    assert losses[0][0] == 2.65
    assert losses[0][1] == [(0, 1), (2, 3), (4, 5, 6)]
    assert losses[1][0] == 2.85


@pytest.mark.usefixtures("full_bounds")
def test_the_bound_by_nearest_neighbours_is_1_75(seven):
    """Whoever shares a class with a record is no nearer than its nearest: k = 2."""
    nearest = [
        min(
            Fraction(abs(age - other_age), 40) + Fraction(abs(code - other_code), 25)
            for other, (other_age, other_code) in enumerate(ROWS)
            if other != record
        )
        for record, (age, code) in enumerate(ROWS)
    ]
    assert sum(nearest) == Fraction("1.75")
    ncp = MEASURES.make("ncp", {})
    quick, long = (lower_bound(seven.codes, ncp, 2, np.random.default_rng(1), effort) for effort in (1e-6, 1))
    assert quick.value * 14 == pytest.approx(1.75)
    assert quick.method == "nearest"
    assert quick.value <= long.value <= 2.65 / 14
