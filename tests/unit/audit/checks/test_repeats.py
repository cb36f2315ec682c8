"""Identifiers that repeat: k counts records then, and whoever releases the table is told so."""

import json

import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort import Policy

VISITS = pl.DataFrame(
    {
        "patient": [f"P{n // 5}" for n in range(60)],
        "doctor": ["Dr. A", "Dr. B"] * 30,
        "visit": [f"V{n}" for n in range(60)],
        "age": [20 + n // 10 for n in range(60)],
        "ill": ["a", "b", "c"] * 20,
    }
)
NOT_PERSON = Policy.build(
    k=3, quasi_identifiers=["age"], sensitive=["ill"], identifiers=["patient", "doctor", "visit"], seed=1
)


def repeats(policy, table=VISITS):
    return kohort.anonymize(table, policy).verdict.check("repeats")


def test_an_identifier_that_repeats_is_named_with_its_figures():
    found = repeats(NOT_PERSON)
    assert found.passed
    assert "column 'patient' (12 values in 60 records)" in found.sentence
    assert "name it as person in [privacy]" in found.sentence
    assert found.figures == {"values.patient": 12}  # two doctors cannot be three persons; visits do not repeat


def test_other_spellings_of_missing_do_not_count():
    gaps = VISITS.with_columns(pl.Series("patient", [f"P{n}" if n < 30 else None for n in range(60)]))
    assert repeats(NOT_PERSON, gaps) is None


@pytest.mark.parametrize(
    "policy",
    [NOT_PERSON.with_changes("privacy", person="patient"), NOT_PERSON.with_changes("privacy", k=13)],
    ids=["declared", "too few to be persons"],
)
def test_nothing_is_said_where_there_is_nothing_to_say(policy):
    assert repeats(policy) is None


def test_it_is_on_the_screen_and_in_the_private_verdict_only(tmp_path):
    VISITS.write_csv(tmp_path / "visits.csv")
    (tmp_path / "policy.toml").write_text(NOT_PERSON.to_toml())
    release, private = tmp_path / "out.csv", tmp_path / "private.json"
    shown = called("anonymize", "visits.csv", "-p", "policy.toml", "-o", release, "--private", private, folder=tmp_path)
    assert shown.returncode == 0
    assert "note:        identifiers repeat" in shown.stdout
    assert "'patient'" in shown.stdout
    assert "repeats" not in (tmp_path / "out.csv.verdict.json").read_text()
    names = [check["name"] for check in json.loads(private.read_text())["checks"]]
    assert "repeats" in names
    on_disk = kohort.anonymize(
        tmp_path / "visits.csv", NOT_PERSON, output=tmp_path / "disk.csv", memory="1GB"
    ).verdict.check("repeats")
    assert on_disk.figures == {"values.patient": 12}
