"""A missing quasi-identifier means the same from the policy to the file: the worked table of docs/policy.md."""

import polars as pl
import pytest

import kohort
from kohort import Policy


@pytest.fixture
def people():
    return pl.DataFrame({"age": [31, 33, 60, 62, None], "sex": ["f", "f", "m", "m", "m"]})


def released(people, rule, tmp_path, limit=0.0):
    policy = Policy.build(
        k=2, quasi_identifiers=["age", "sex"], missing=rule, suppression_limit=limit, seed=1, output={"order": "kept"}
    )
    release = kohort.anonymize(people, policy, output=tmp_path / "out.csv", overwrite=True)
    rows = pl.read_csv(tmp_path / "out.csv", infer_schema=False).rows()
    return policy, release, rows


@pytest.mark.parametrize("rule", ["own-value", "wildcard"])
def test_missing_is_a_value_or_matches_any(people, rule, tmp_path):
    policy, release, rows = released(people, rule, tmp_path)
    assert rows == [("[31 - 33]", "f")] * 2 + [("*", "m")] * 3
    assert release.loss.by_column["age"] == pytest.approx((2 * 2 / 31 + 3 * 1) / 5)
    measured = kohort.measure(tmp_path / "out.csv", people, policy)
    assert measured.total == pytest.approx(release.loss.total)


def test_records_that_miss_something_are_withheld(people, tmp_path):
    policy, release, rows = released(people, "suppress", tmp_path, limit=0.2)
    assert rows == [("[31 - 33]", "f")] * 2 + [("[60 - 62]", "m")] * 2
    assert release.loss.by_column["age"] == pytest.approx((4 * 2 / 31 + 1) / 5)
    assert kohort.verify(tmp_path / "out.csv", policy, original=people).passed


def test_records_that_miss_something_are_refused(people, tmp_path):
    with pytest.raises(kohort.PolicyError, match=r"first in row 5. and missing = 'refuse'"):
        released(people, "refuse", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_class_that_misses_it_altogether_shows_nothing(tmp_path):
    people = pl.DataFrame({"age": [30, 31, None, None], "sex": ["f"] * 4})
    for rule in ("own-value", "wildcard"):
        _, release, rows = released(people, rule, tmp_path)
        assert rows == [("[30 - 31]", "f")] * 2 + [(None, "f")] * 2
        assert release.loss.by_column["age"] == pytest.approx(0.5)


@pytest.mark.parametrize("rule", ["own-value", "wildcard"])
def test_a_column_without_any_value(rule, tmp_path):
    people = pl.DataFrame({"age": pl.Series([None] * 4, dtype=pl.Int64), "sex": ["f", "f", "m", "m"]})
    _, release, rows = released(people, rule, tmp_path)
    assert rows == [(None, "f")] * 2 + [(None, "m")] * 2
    assert release.loss.total == 0
