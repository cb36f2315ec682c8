"""Paper 002 (CB), section 4: l-diversity, by its own example and by counting."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.codes.encode import encode
from kohort.errors import DataError
from kohort.kernels.algorithms.cb import split
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.table import typed_quasi_identifiers

TABLE_1 = pl.DataFrame(
    {
        "age": [20, 20, 30, 40, 50, 60, 60],
        "zip": [25, 30, 25, 30, 10, 5, 10],
        "disease": ["Flu", "Bronchitis", "Gastritis", "Pneumonia", "Flu", "Bronchitis", "Gastritis"],
    }
)


def is_diverse(values, share):
    return max(map(values.count, values)) * share <= len(values)


# -- figure 5 -----------------------------------------------------------------------------------


def multisets(share):
    """Sorted values of up to 12 records, four values, none with more than a share of 1/l."""
    for counts in product(range(13), repeat=4):
        n = sum(counts)
        if share <= n <= 12 and max(counts) * share <= n:
            yield [value for value in range(4) for _ in range(counts[value])]


def in_turn(values, groups):
    """Figure 5: tuple i goes to group (i mod g) + 1."""
    return [[value for i, value in enumerate(values, 1) if i % groups == g] for g in range(groups)]


def test_rounding_down_never_fails_and_rounding_up_does():
    """The paper does not print how |T| / l is rounded."""
    cases = [(values, share) for share in (2, 3) for values in multisets(share)]
    down = [all(is_diverse(g, share) for g in in_turn(values, len(values) // share)) for values, share in cases]
    up = [all(is_diverse(g, share) for g in in_turn(values, -(-len(values) // share))) for values, share in cases]
    assert (len(cases), down.count(False), up.count(False)) == (900, 0, 300)
    assert not up[cases.index(([0, 1, 2], 2))]


@pytest.mark.parametrize("share", [2, 3])
def test_the_splitter_makes_as_many_groups_and_all_are_diverse(share):
    frame = pl.DataFrame({"a": range(12)})
    policy = Policy.build(k=2, quasi_identifiers=["a"])
    codes = encode(typed_quasi_identifiers(frame, policy), policy)
    costs = compile_costs(MEASURES.make("ncp", {}), codes.axes)
    for k in (share, share + 1, 5):
        for values in multisets(share):
            group = np.full(12, -1, np.int32)
            members = np.arange(len(values), dtype=np.int32)
            column = np.array(values + [0] * (12 - len(values)), np.int32)[:, None]
            made = split(np.array(codes.array), costs, column, np.array([share]), k, members, group)
            groups = [[value for value, g in zip(values, group, strict=False) if g == number] for number in range(made)]
            assert sum(map(len, groups)) == len(values)
            assert all(is_diverse(found, share) for found in groups)
            assert made == 1 or min(map(len, groups)) >= k, "with l < k, the figure would break k-anonymity"
            if k == share:
                assert made == len(values) // share


# -- table 1 ------------------------------------------------------------------------------------


def release_of(frame, k, share, seed=0, **parameters):
    policy = Policy.build(
        k=k,
        quasi_identifiers=["age", "zip"],
        sensitive=["disease"],
        algorithm={"name": "cb", **parameters},
        seed=seed,
        output={"order": "kept"},
    )
    model = {"model": "frequency-l-diversity", "column": "disease", "l": share}
    return kohort.anonymize(frame, policy.with_changes("privacy", models=[model]))


@pytest.mark.slow
def test_table_2_is_2_diverse_and_found():
    releases = [release_of(TABLE_1, 2, 2, seed) for seed in range(20)]
    losses = [round(release.loss.total * 14, 9) for release in releases]
    assert min(losses) == 2.65
    assert all(release.verdict.check("frequency-l-diversity").passed for release in releases)
    best = releases[losses.index(2.65)].table
    assert best["age"].to_list() == ["20"] * 2 + ["[30 - 40]"] * 2 + ["[50 - 60]"] * 3


@pytest.mark.slow
def test_3_diverse_classes_of_table_1_have_three_records_or_more():
    """Two classes at most, and never one of two records, although k = 2."""
    for seed in range(20):
        classes = release_of(TABLE_1, 2, 3, seed).table.group_by("age", "zip").agg("disease")
        assert all(is_diverse(found, 3) for found in classes["disease"].to_list())
        assert 1 <= classes.height <= 2


# -- Adult --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("share", [2, 3, 4])
def test_adult_is_diverse_and_the_splitter_loses_less(share):
    try:
        adult = kohort.datasets.adult()
    except DataError:
        pytest.skip("the Adult data are not on this machine (set KOHORT_DATA)")
    frame = adult.select("age", pl.col("education").alias("zip"), pl.col("occupation").alias("disease"))
    whole, halves = (release_of(frame, 10, share, splitter=splitter) for splitter in (False, True))
    assert whole.verdict.passed
    assert halves.verdict.passed
    assert halves.loss.total < whole.loss.total
    assert halves.verdict.facts.smallest_class >= 10
