"""How reports read a release: classes, boxes, columns as they are; against reading it cell by cell."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import kohort
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.reports.published import opened, original_of, policy_for, read_beside
from property.strategies import cases

PEOPLE = pl.DataFrame(
    {
        "age": [31, 30, 64, 66, 61, 64],
        "sex": ["F", "M", "F", "F", None, "F"],
        "ill": ["flu", "flu", "cold", "flu", "cold", None],
        "ward": ["a", "b", "b", "b", "c", "c"],
    }
)
PUBLISHED = pl.DataFrame(
    {
        "age": ["[30 - 31]", "[30 - 31]", "[64 - 66]", "[64 - 66]", "*"],
        "sex": ["*", "*", "F", "F", "*"],
        "ill": ["flu", "flu", "cold", "flu", "cold"],
        "ward": ["a", "b", "b", "b", "c"],
    }
)
POLICY = Policy.build(k=2, quasi_identifiers=["age", "sex"], sensitive=["ill"], insensitive=["ward"])


def in_file(release, values):
    """What there is of each row, in the order of the file."""
    return values[np.argsort(release.ordered.order)]


def test_classes_and_boxes_on_the_axes_of_the_original():
    with opened(PUBLISHED, POLICY, PEOPLE) as release:
        assert (release.rows, release.records, release.withheld) == (5, 6, 1)
        assert in_file(release, release.sizes[release.labels]).tolist() == [2, 2, 2, 2, 1]
        assert in_file(release, release.suppressed).tolist() == [False] * 4 + [True]
        boxes = release.boxes.of(in_file(release, release.labels))
        # ages 30, 31, 61, 64, 66; sexes F, M, missing
        assert boxes.lo.tolist() == [[0, 0], [0, 0], [3, 0], [3, 0], [0, 0]]
        assert boxes.hi.tolist() == [[1, 2], [1, 2], [4, 0], [4, 0], [4, 2]]
        assert release.original.codes.array.tolist() == [[1, 0], [0, 1], [3, 0], [4, 0], [2, 2], [3, 0]]
        assert release.partition.suppressed == 2


def test_columns_as_they_are():
    with opened(PUBLISHED, POLICY, PEOPLE, as_is=True) as release:
        assert release.as_is == ("ill", "ward")
        assert in_file(release, release.values(release.as_is)).tolist() == [[2, 1], [2, 2], [1, 2], [2, 2], [1, 3]]
        ours, theirs = release.values_of_both("ill")
        assert in_file(release, ours).tolist() == [2, 2, 1, 2, 1]
        assert theirs.tolist() == [2, 2, 1, 2, 1, 0]
        assert in_file(release, release.typed("ward").to_numpy()).tolist() == PUBLISHED["ward"].to_list()
        assert in_file(release, release.sensitive.array[:, 0]).tolist() == [1, 1, 0, 1, 0]


def test_ends_of_intervals_and_identifiers_are_not_known_besides():
    policy = Policy.build(k=2, quasi_identifiers=["age"], identifiers=["name"], sensitive=["ill"])
    table = PUBLISHED.select("age", "ill", "ward", age_lo=pl.lit(3), name=pl.lit("x"))
    with opened(table, policy, as_is=True) as release:
        assert release.as_is == ("ill", "ward")


def test_what_covers_nothing_has_an_empty_box():
    table = PUBLISHED.with_columns(age=pl.lit("47.5"))
    with opened(table, POLICY, PEOPLE) as release:
        assert (release.boxes.lo[:, 0] > release.boxes.hi[:, 0]).all()
        assert (release.partition.lo[:, 0] == 2).all(), "figures count it as the next value"
        assert (release.partition.lo <= release.partition.hi).all()


def test_an_original_by_its_own_values():
    policy = Policy.build(
        k=2, quasi_identifiers=["age"], insensitive=["sex", "ill", "ward"], columns={"age": {"top": 60}}
    )
    table = PUBLISHED.with_columns(age=pl.Series(["[30 - 31]", "[30 - 31]", ">= 60", ">= 60", ">= 60"]))
    with opened(table, policy, PEOPLE) as release:
        assert release.axes[0].size == 3
    with opened(table, policy, PEOPLE, precise=True) as release:
        assert release.axes[0].size == 5
        assert release.boxes.of(in_file(release, release.labels)).lo[:, 0].tolist() == [0, 0, 2, 2, 2]
        assert release.boxes.of(in_file(release, release.labels)).hi[:, 0].tolist() == [1, 1, 4, 4, 4]


@settings(max_examples=25, deadline=None)
@given(case=cases(max_rows=25))
def test_every_box_of_a_release_covers_its_record(case):
    frame, policy = case
    policy = policy.with_changes("output", order="kept").with_changes("algorithm", seed=3)
    try:
        made = kohort.anonymize(frame, policy)
    except kohort.InfeasibleError:
        return
    with opened(made.table, policy, frame) as release:
        boxes = release.boxes.of(in_file(release, release.labels))
        assert (boxes.lo <= boxes.hi).all()
        if release.withheld == 0:
            codes = release.original.codes.array
            assert ((boxes.lo <= codes) & (codes <= boxes.hi)).all()


def test_without_a_policy(tmp_path):
    PUBLISHED.write_csv(tmp_path / "out.csv")
    policy = policy_for(tmp_path / "out.csv", k=2, quasi_identifiers=["age,sex"], sensitive=["ill"])
    assert policy.having_role("sensitive", "insensitive") == ("ill", "ward")
    assert policy_for(PUBLISHED, k=2, quasi_identifiers=["age", "sex"], sensitive=["ill"]).columns == policy.columns
    assert policy_for(PUBLISHED, POLICY, k=3).privacy.k == 3
    with opened(tmp_path / "out.csv", policy) as release:
        assert np.bincount(release.sizes).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "nothing says what was promised"),
        ({"k": 2}, "name them with --qi"),
        ({"quasi_identifiers": ["age"]}, "give --k"),
        ({"quasi_identifiers": ["agee"], "k": 2}, "'agee' is not in the file"),
        ({"policy": POLICY, "quasi_identifiers": ["age"]}, "leave out --qi"),
    ],
)
def test_what_is_not_said_is_refused(given, says):
    with pytest.raises((DataError, PolicyError), match=says):
        policy_for(PUBLISHED, **given)


def test_a_release_that_is_about_others_too():
    policy = Policy.build(k=2, quasi_identifiers=["town"])
    some = pl.DataFrame({"town": ["a", "b"]})
    table = pl.DataFrame({"town": ["a", "elsewhere", "*"]})
    with opened(table, policy) as release:
        beside = release.beside(original_of(read_beside(some, policy), policy))
        with pytest.raises(DataError, match="covers no value of its hierarchy"):
            assert beside.boxes
        boxes = replace(beside, lenient=True).boxes.of(in_file(release, release.labels))
        assert (boxes.lo[:, 0] > boxes.hi[:, 0]).tolist() == [False, True, False]


@settings(max_examples=15, deadline=None)
@given(case=cases(max_rows=25))
def test_the_order_of_the_rows_changes_nothing_but_itself(case):
    frame, policy = case
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    found = []
    for table in (frame, shuffled):
        with opened(table, policy, as_is=True, what="original") as release:
            there = {name: table[name].cast(pl.String).to_list() for name in release.as_is}
            for name, cells in there.items():
                texts, numbers = release.texts(name)
                assert in_file(release, numbers.astype(int)).tolist() == [texts.to_list().index(one) for one in cells]
            found.append((release.labels.tolist(), release.values(release.as_is).tolist(), release.sizes.tolist()))
    assert found[0] == found[1]
