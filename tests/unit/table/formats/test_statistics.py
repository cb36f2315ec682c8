"""SPSS, Stata and SAS: labels, kinds of missing values, and what such files cannot hold."""

import numpy as np
import pandas as pd
import polars as pl
import pyreadstat
import pytest

import kohort
from helpers.cli import called
from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table import read_table, write_table

LABELS = {
    "sex": {1: "male", 2: "female", 9: "other"},
    "edu": {1: "low", 2: "mid", 3: "high"},
    "age": {99: "refused"},
    "twice": {1: "same", 2: "same"},
}


def survey(path, rows=60):
    """A survey with labels for all values, for the missing one only, and two values of one label."""
    frame = pl.DataFrame(
        {
            "sex": [1.0 + row % 2 for row in range(rows)],
            "edu": [1.0 + row % 3 for row in range(rows)],
            "age": [99.0 if row % 10 == 0 else 20.0 + row for row in range(rows)],
            "twice": [1.0 + row % 2 for row in range(rows)],
        }
    )
    words = {"sex": "Sex of the person", "age": "Age in years"}
    if path.suffix == ".dta":
        # a labelled value that stays, as Stata has no ranges of missing values
        labels = {name: labels for name, labels in LABELS.items() if name != "twice"}
        pyreadstat.write_dta(frame, str(path), column_labels=words, variable_value_labels=labels)
    else:
        pyreadstat.write_sav(
            frame, str(path), column_labels=words, variable_value_labels=LABELS, missing_ranges={"age": [99]}
        )
    return path


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_values_that_all_have_labels_are_read_as_labels(tmp_path, suffix):
    table = read_table(survey(tmp_path / f"s{suffix}"))
    assert table.frame["sex"][:2].to_list() == ["male", "female"]
    assert table.frame["edu"][:3].to_list() == ["low", "mid", "high"]
    # one labelled value among many is no label of the column
    assert table.frame["age"].dtype == pl.Int64
    assert table.labels == {"sex": "Sex of the person", "age": "Age in years"}
    # two values that have one label stay two
    assert table.frame["twice"].n_unique() == 2


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_codes_are_read_where_they_are_asked_for(tmp_path, suffix):
    table = read_table(survey(tmp_path / f"s{suffix}"), Input(labels="codes"))
    assert table.frame["sex"][:2].to_list() == [1, 2]


def test_a_value_that_the_file_declares_as_missing_is_missing(tmp_path):
    assert read_table(survey(tmp_path / "s.sav")).frame["age"].null_count() == 6


def test_the_missing_values_of_stata_are_missing(tmp_path):
    frame = pl.DataFrame({"age": [1.0, None, 3.0]})
    pyreadstat.write_dta(frame, str(tmp_path / "s.dta"))
    assert read_table(tmp_path / "s.dta").frame["age"].to_list() == [1, None, 3]
    pd.DataFrame({"age": [1.0, np.nan]}).to_stata(tmp_path / "p.dta", write_index=False)
    assert read_table(tmp_path / "p.dta").frame["age"].to_list() == [1, None]


@pytest.mark.parametrize(("source", "target"), [(".sav", ".sav"), (".dta", ".sav"), (".sav", ".dta"), (".sav", ".csv")])
@pytest.mark.parametrize("labels", ["labels", "codes"])
def test_a_labelled_survey_is_released_and_verified(tmp_path, source, target, labels):
    policy = kohort.Policy.build(
        k=3,
        quasi_identifiers=["sex", "age"],
        sensitive=["edu"],
        insensitive=["twice"],
        seed=1,
        algorithm="mondrian",
        input={"labels": labels},
    )
    path, out = survey(tmp_path / f"s{source}"), tmp_path / f"r{target}"
    release = kohort.anonymize(path, policy, output=out)
    assert release.verdict.passed
    assert kohort.verify(out, policy, original=path).passed
    assert set(release.table["edu"]) == ({"low", "mid", "high"} if labels == "labels" else {1, 2, 3})
    if target in (".sav", ".dta"):
        assert read_table(out).labels == {"sex": "Sex of the person", "age": "Age in years"}
        # no dictionary of the original's values goes along
        read = pyreadstat.read_sav if target == ".sav" else pyreadstat.read_dta
        assert read(str(out))[1].variable_value_labels == {}


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_a_file_does_not_say_when_it_was_written(tmp_path, suffix):
    frame = pl.DataFrame({"age": [1, 2]})
    write_table(frame, tmp_path / f"a{suffix}", known(suffix), None, neutralise=False)
    data = (tmp_path / f"a{suffix}").read_bytes()
    assert b"2026" not in data[:400]
    assert b"01 Jan" in data[:400] or b"01JAN00" in data[:400]


def known(suffix):
    from pathlib import Path

    from kohort.table.read import file_kind

    return file_kind(Path(f"a{suffix}"))


@pytest.mark.parametrize(
    ("suffix", "column", "sentence"),
    [
        (".sav", pl.Series("a b", [1]), "column 'a b': SPSS files have names of"),
        (".dta", pl.Series("x" * 33, [1]), "Stata files have names of up to 32 letters"),
        (".xpt", pl.Series("ä", [1]), "SAS files have names of"),
        (".sav", pl.Series("t", ["SECRETCELL "]), "column 't': holds texts that end in a blank"),
        (".xpt", pl.Series("t", ["SECRETCELL" * 21]), "texts of more than 200 bytes"),
        (".dta", pl.Series("n", [2**53 + 1]), "whole numbers that Stata does not keep"),
        (".sav", pl.Series("n", [float("inf")]), "infinite numbers"),
    ],
)
def test_what_a_kind_does_not_keep_is_refused_in_a_sentence(tmp_path, suffix, column, sentence):
    with pytest.raises(DataError) as refused:
        write_table(pl.DataFrame([column]), tmp_path / f"a{suffix}", known(suffix), None, neutralise=False)
    assert sentence in str(refused.value)
    assert "SECRETCELL" not in str(refused.value)


def test_files_of_sas_itself_are_read_and_not_written(tmp_path):
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"])
    with pytest.raises(DataError, match=r"SAS files can be read and not written; write \.xpt\."):
        kohort.anonymize(pl.DataFrame({"age": [1, 2]}), policy, output=tmp_path / "r.sas7bdat")


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt", ".sas7bdat", ".xlsx", ".feather", ".jsonl"])
@pytest.mark.parametrize("content", [b"", b"SECRETCELL,1\n2,3\n", b"PK\x03\x04SECRETCELL", b"$FL2SECRETCELL" * 20])
def test_a_damaged_file_is_refused_without_a_cell(tmp_path, suffix, content):
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(content)
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"])
    (tmp_path / "policy.toml").write_text(policy.to_toml())
    with pytest.raises(DataError) as refused:
        kohort.anonymize(path, policy)
    assert "SECRETCELL" not in str(refused.value)
    assert refused.value.__context__ is None
    said = called("verify", path, "-p", "policy.toml", folder=tmp_path)
    # what is in it counts for the auditor: here, it may be CSV that lacks a column
    assert said.returncode in (1, 2)
    assert "SECRETCELL" not in said.stdout + said.stderr
