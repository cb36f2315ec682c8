"""Columns of sets in a proposed policy: never published as they are."""

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.reports.propose import propose
from kohort.reports.propose.sets import separator_of


def sets(items, separator, rows=300, seed=1):
    rng = np.random.default_rng(seed)
    return [separator.join(sorted(set(rng.choice(items, rng.integers(1, 5)).tolist()))) for _ in range(rows)]


@pytest.mark.parametrize("separator", [";", "|", ","])
def test_diagnoses_are_a_set_and_not_published_as_they_are(separator):
    table = pl.DataFrame(
        {"age": np.arange(300) % 60 + 20, "diagnoses": sets(["J45", "E11", "I10", "L20", "F32"], separator)}
    )
    proposed = propose(table, k=5)
    column = proposed.policy.columns["diagnoses"]
    assert (column.role, column.type, column.separator) == ("quasi", "set", separator)
    assert "diagnoses" in proposed.doubts
    release = kohort.anonymize(table, proposed.policy)
    assert release.verdict.check("k-m-anonymity").passed


def test_a_second_column_of_sets_is_dropped():
    table = pl.DataFrame(
        {
            "age": np.arange(300) % 60 + 20,
            "diagnoses": sets(list("abcde"), ";"),
            "basket": sets(list("fghij"), ";", seed=2),
        }
    )
    columns = propose(table, k=5).policy.columns
    assert (columns["diagnoses"].type, columns["basket"].role) == ("set", "identifier")


def test_what_identifies_stays_dropped():
    table = pl.DataFrame({"age": np.arange(300) % 60 + 20, "name": sets(["Ann", "Joe", "Kim", "Lee"], ";")})
    assert propose(table, k=5).policy.columns["name"].role == "identifier"


@pytest.mark.parametrize(
    "texts",
    [
        ["Doe, Ann", "Lee, Joe"] * 50,
        ["came in, was ill", "went home", "slept, ate, and went home after a good and quiet night's rest at last"] * 20,
        ["1,234", "12", "1,234,567"] * 30,
        [f"a{row};b{row};c{row}" for row in range(50)] + ["a", "b;c"] * 20,
        ["one", "two"] * 20,
        [],
    ],
)
def test_what_is_no_set(texts):
    assert separator_of(pl.Series(texts, dtype=pl.String)) is None


def test_a_role_that_was_decided_stays():
    table = pl.DataFrame({"age": np.arange(300) % 60 + 20, "diagnoses": sets(list("abcde"), ";")})
    column = propose(table, k=5, roles={"diagnoses": "identifier"}).policy.columns["diagnoses"]
    assert (column.role, column.type) == ("identifier", None)
