from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kohort.audit.checks.matching import unmatched


def brute_force(cells, originals):
    """Try every order of the originals; the fewest uncovered cells are left."""
    padded = [*originals, *[None] * max(0, len(cells) - len(originals))]
    return min(
        sum(place is None or not first <= place <= last for (first, last), place in zip(cells, order, strict=False))
        for order in permutations(padded)
    )


places = st.integers(0, 3)


def left_over(cells, capacity):
    first, last = ([cell[end] for cell in cells] for end in range(2))
    ones = np.ones(len(cells), np.int64)
    return unmatched(np.array(first, np.int64), np.array(last, np.int64), ones, np.array(capacity, np.int64))


@given(st.lists(st.tuples(places, places), max_size=5), st.lists(places, max_size=5))
def test_against_all_permutations(cells, originals):
    capacity = [originals.count(place) for place in range(4)]
    assert left_over(cells, capacity) == brute_force(cells, originals)


def test_the_stretch_that_ends_first_is_served_first():
    assert left_over([(0, 2), (0, 0), (1, 1)], [1, 1, 1]) == 0
    assert left_over([(0, 0), (0, 0)], [1, 1, 1]) == 1
    assert left_over([(1, 0), (1, 0)], [1, 1, 1]) == 2
    assert left_over([], []) == 0


def test_cells_of_one_text_are_served_one_by_one():
    several = np.array([0]), np.array([1]), np.array([5])
    assert unmatched(*several, np.array([1, 2, 9])) == 2
