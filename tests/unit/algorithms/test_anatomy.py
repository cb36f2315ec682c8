"""Anatomy: buckets of different values, and two tables that hold the original values."""

import csv
import datetime as dt
from collections import Counter
from itertools import product
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import kohort
from kohort.algorithms import anatomy
from kohort.errors import InfeasibleError, PolicyError
from kohort.policy import Policy
from property.strategies import cases


def fill(values, k, seed=0, shares=None):
    progress = (lambda share: None) if shares is None else shares.append
    task = SimpleNamespace(k=k, rng=np.random.default_rng(seed), progress=progress)
    return anatomy.fill(np.asarray(values, np.int32), task)


def in_buckets(policy, k=None):
    changed = policy.with_changes("algorithm", name="anatomy", parameters={})
    return changed.with_changes("privacy", anonymity="buckets", **({"k": k} if k else {}))


def policy_of(frame, k=2, sensitive=("ill",), **given):
    quasi = [name for name in frame.columns if name not in sensitive]
    return in_buckets(Policy.build(k=k, quasi_identifiers=quasi, sensitive=sensitive, seed=1, **given))


# -- buckets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4])
def test_every_small_multiset_that_can_be_done_is(k):
    """Up to four records of each of five values: k to 2k - 1 records in a bucket, no value twice."""
    done = 0
    for counts in product(range(5), repeat=5):
        n = sum(counts)
        if not 0 < max(counts) * k <= n:
            continue
        values = np.repeat(np.arange(5), counts)
        buckets = fill(values, k)
        sizes = np.bincount(buckets)
        assert buckets.dtype == np.int32
        assert k <= sizes.min() <= sizes.max() < 2 * k
        assert len(sizes) == n // k, "only what cannot fill a bucket of its own joins another"
        assert len(set(zip(buckets.tolist(), values.tolist(), strict=True))) == n
        done += 1
    assert done > 100


def test_the_most_frequent_values_go_first():
    """5 a, 3 b, 2 c with k = 2: a must be in every one of five buckets."""
    values = [0] * 5 + [1] * 3 + [2] * 2
    assert sorted(fill(values, 2)[:5]) == [0, 1, 2, 3, 4]


def test_records_of_a_value_are_drawn_at_random_and_by_the_seed():
    values = np.repeat(np.arange(3), 40)
    one, again, other = (fill(values, 3, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    assert (np.diff(one[:40]) < 0).any(), "not in the order of the table"


def test_the_record_that_is_left_over_may_join_any_bucket_without_its_value():
    values = [0, 1] * 6 + [2]
    joined = {int(fill(values, 2, seed)[-1]) for seed in range(60)}
    assert joined == set(range(6))


def test_progress(monkeypatch):
    monkeypatch.setattr(anatomy, "TELL", 2)
    shares = []
    fill(np.repeat(np.arange(4), 30), 4, shares=shares)
    assert shares == sorted(shares)
    assert len(shares) == 16
    assert shares[-1] == 1


# -- the two tables -----------------------------------------------------------------------------


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@given(case=cases(max_rows=40))
@settings(max_examples=30)
def test_two_files_that_hold_the_original_and_no_link_but_the_bucket(tmp_path_factory, case):
    frame, policy = case
    path = tmp_path_factory.mktemp("out") / "out.csv"
    most = max(Counter(frame["ill"].to_list()).values())
    policy = in_buckets(policy, k=2)
    if most * 2 > frame.height:
        with pytest.raises(InfeasibleError, match=f"one value of column 'ill' has {most} of {frame.height} records"):
            kohort.anonymize(frame, policy, output=path)
        assert not list(path.parent.iterdir())
        return
    release = kohort.anonymize(frame, policy, output=path)
    assert sorted(file.name for file in path.parent.iterdir()) == ["out.quasi.csv", "out.sensitive.csv"]
    quasi, sensitive = rows_of(path.with_name("out.quasi.csv")), rows_of(path.with_name("out.sensitive.csv"))
    assert [*quasi[0]] == [*policy.quasi_identifiers, "bucket"]
    assert [*sensitive[0]] == ["bucket", "ill", "count"]
    truth = [Counter() for _ in range(len(quasi))]
    for row, original in zip(quasi, release.row_order, strict=True):
        for name in policy.quasi_identifiers:
            value = frame[name][int(original)]
            assert row[name] == ("" if value is None else str(value)), "published as it is"
        truth[int(row["bucket"]) - 1][frame["ill"][int(original)] or ""] += 1
    for row in sensitive:
        assert truth[int(row["bucket"]) - 1].pop(row["ill"]) == int(row["count"]) == 1
    assert not any(truth)
    assert release.loss.total == 0
    assert release.verdict.facts.smallest_class >= 2


def test_values_are_published_as_they_are():
    frame = pl.DataFrame(
        {
            "age": [31, 64, 30, None],
            "size": [1.5, -2.25, 0.1, 1e6],
            "born": [dt.date(1990, 1, 2), dt.date(2000, 2, 29), None, dt.date(1950, 12, 31)],
            "zip": ["01234", "99999", "01299", "00000"],
            "job": ["Nurse", "Baker", "Cook", "Baker"],
            "year": [2001, 2002, 2003, 2004],
            "ill": ["flu", "cold", "flu", "cough"],
        }
    )
    policy = policy_of(
        frame,
        hierarchies={
            "zip": {"prefix": [5, 3]},
            "job": {"tree": {"Health": ["Nurse"], "Food": ["Baker", "Cook"]}},
            "year": {"intervals": {"width": 5}},
        },
        output={"order": "kept"},
    )
    quasi = kohort.anonymize(frame, policy).tables["quasi"]
    assert quasi.drop("bucket").to_dict(as_series=False) == {
        "age": ["31", "64", "30", None],
        "size": ["1.5", "-2.25", "0.1", "1000000.0"],
        "born": ["1990-01-02", "2000-02-29", None, "1950-12-31"],
        "zip": ["01234", "99999", "01299", "00000"],
        "job": ["Nurse", "Baker", "Cook", "Baker"],
        "year": ["2001", "2002", "2003", "2004"],
    }


def test_order_and_numbers_of_buckets():
    frame = pl.DataFrame({"age": range(60), "ill": ["a", "b", "c"] * 20})
    kept = kohort.anonymize(frame, policy_of(frame, 3, output={"order": "kept"}))
    assert kept.table["age"].to_list() == [str(age) for age in range(60)]
    np.testing.assert_array_equal(kept.row_order, np.arange(60))
    mixed = kohort.anonymize(frame, policy_of(frame, 3))
    assert mixed.table["age"].to_list() != kept.table["age"].to_list()
    # the numbers of the buckets are drawn afresh, although the buckets are those of the same seed
    numbers = [dict(zip(release.row_order, release.table["bucket"], strict=True)) for release in (kept, mixed)]
    assert numbers[0] != numbers[1]
    fixed = policy_of(frame, 3, output={"shuffle_seed": 5})
    one, again = (kohort.anonymize(frame, fixed) for _ in range(2))
    assert all(one.tables[name].equals(again.tables[name]) for name in ("quasi", "sensitive"))


@pytest.mark.parametrize("texts", [["", None], ["", "?"], ["?", "-"]])
def test_all_texts_for_missing_are_one_value(texts):
    frame = pl.DataFrame({"a": range(12), "ill": texts * 3 + list("uvwxyz")})
    policy = policy_of(frame, 2, input={"missing": ["?", "-"]})
    assert kohort.anonymize(frame, policy).verdict.passed
    with pytest.raises(InfeasibleError, match="6 of 11 records; at most k = 1"):
        kohort.anonymize(frame[:11], policy)


def test_records_without_a_quasi_identifier_may_be_withheld():
    frame = pl.DataFrame({"a": [1, None, 3, 4, 5], "ill": list("xyxyz")})
    policy = policy_of(frame, 2, missing="suppress", suppression_limit=0.2)
    release = kohort.anonymize(frame, policy)
    assert release.tables["quasi"].height == release.tables["sensitive"]["count"].sum() == 4
    assert release.verdict.facts.withheld == 1


def test_texts_for_missing_may_be_numbers_of_buckets():
    """1 and 2 stand for missing in the table, and are buckets and counts of the release."""
    frame = pl.DataFrame({"a": range(3, 23), "ill": ["x", "1", "y", "2"] * 5})
    release = kohort.anonymize(frame, policy_of(frame, 2, input={"missing": ["1", "2"]}))
    assert release.verdict.passed


def test_parquet_frames_and_compare(tmp_path):
    frame = pl.DataFrame({"age": range(30), "ill": ["a", "b", "c"] * 10})
    release = kohort.anonymize(frame, policy_of(frame, 3), output=tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.sensitive.parquet").equals(release.tables["sensitive"])
    pandas = kohort.anonymize(frame.to_pandas(), policy_of(frame, 3))
    assert [type(table).__module__.split(".")[0] for table in pandas.tables.values()] == ["pandas", "pandas"]
    [outcome] = kohort.compare(frame, policy_of(frame, 3), algorithms=["anatomy"])
    assert (outcome.anonymity, outcome.classes, outcome.smallest, outcome.loss) == ("buckets", 10, 3, 0)


# -- refusals -----------------------------------------------------------------------------------


def test_no_value_is_named_when_it_is_too_frequent():
    frame = pl.DataFrame({"age": range(7), "ill": ["s3cret"] * 4 + ["x", "y", "z"]})
    with pytest.raises(InfeasibleError) as refused:
        kohort.anonymize(frame, policy_of(frame, 3))
    assert str(refused.value) == (
        "k = 3 is impossible in buckets: one value of column 'ill' has 4 of 7 records; at most k = 1 can be kept."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sensitive": []}, "works on one sensitive column and the policy has 0"),
        ({"sensitive": ["ill", "pay"]}, "works on one sensitive column and the policy has 2"),
        ({"insensitive": ["bucket"]}, "column 'bucket' has the name of a column that a release in buckets adds"),
        ({"identifiers": ["count"]}, "column 'count' has the name of a column that a release in buckets adds"),
        ({"output": {"suppressed": "starred"}}, "cannot show suppressed records"),
    ],
)
def test_refused_before_work(changes, words):
    given = {"k": 2, "quasi_identifiers": ["age"], "sensitive": ["ill"]} | changes
    with pytest.raises(PolicyError, match=words):
        kohort.anonymize("there-is-no-such-file.csv", in_buckets(Policy.build(**given)))


@pytest.mark.promise("1.5")
def test_buckets_must_be_asked_for():
    policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], algorithm="anatomy")
    with pytest.raises(PolicyError, match="set anonymity = 'buckets' if that is enough"):
        kohort.anonymize("there-is-no-such-file.csv", policy)
