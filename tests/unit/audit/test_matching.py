from __future__ import annotations

from collections import Counter
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from kohort.audit.matching import unmatched


def brute_force(cells, originals):
    """Try every order of the originals; the fewest uncovered cells are left."""
    padded = [*originals, *[None] * max(0, len(cells) - len(originals))]
    return min(
        sum(place is None or not first <= place <= last for (first, last), place in zip(cells, order, strict=False))
        for order in permutations(padded)
    )


places = st.integers(0, 3)


@given(st.lists(st.tuples(places, places), max_size=5), st.lists(places, max_size=5))
def test_against_all_permutations(cells, originals):
    capacity = [originals.count(place) for place in range(4)]
    assert unmatched(Counter(cells), capacity) == brute_force(cells, originals)


def test_the_stretch_that_ends_first_is_served_first():
    assert unmatched({(0, 2): 1, (0, 0): 1, (1, 1): 1}, [1, 1, 1]) == 0
    assert unmatched({(0, 0): 2}, [1, 1, 1]) == 1
    assert unmatched({(1, 0): 2}, [1, 1, 1]) == 2
    assert unmatched({}, []) == 0
