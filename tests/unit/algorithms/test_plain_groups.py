"""Two groups that lie far apart: every algorithm that forms classes of near records finds them."""

import polars as pl
import pytest

import kohort
from kohort import Policy

NAMES = (
    *("auto", "best", "cb", "fast", "k-member", "k-member-parallel", "kaca", "mdav", "oka", "sequential"),
    *("systematic", "top-down-greedy"),
)


@pytest.mark.parametrize("name", NAMES)
def test_two_groups_are_found(name):
    policy = Policy.build(k=3, quasi_identifiers=["age"], algorithm=name, seed=2)
    release = kohort.anonymize(pl.DataFrame({"age": [31, 58, 33, 60, 30, 62]}), policy)
    assert sorted(release.table["age"]) == ["[30 - 33]"] * 3 + ["[58 - 62]"] * 3
