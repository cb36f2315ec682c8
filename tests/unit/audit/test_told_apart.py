"""What any other reader would tell apart is told apart by the audit, or refused."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kohort
from kohort.audit import refuse_misread
from kohort.errors import DataError

POLICY = kohort.Policy.build(k=2, quasi_identifiers=["age", "sex"])
SAME = ["20,F", "20,F"]


def verdict(tmp_path, *lines, policy=POLICY, **options):
    path = tmp_path / "r.csv"
    path.write_bytes("".join(f"{line}\n" for line in ("age,sex", *lines)).encode())
    return kohort.verify(path, policy, **options)


@pytest.mark.promise("3.3")
@pytest.mark.parametrize("memory", [None, 300_000_000])
@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["20,F", '"20" ,F'], "line 3 has text after a closing quote"),
        (["20,F", ' "20",F'], "line 3 has a quote inside a cell"),
        (["20,F", "20,F,"], "line 3 does not have as many cells"),
        (["20,F", '2"0,F'], "line 3 has a quote inside a cell"),
        (["20,F", "", "20,F"], "line 3 is empty"),
        (["20,F", "20,F", ""], "line 4 is empty"),
        (["20,F", "20,F\r"], "line 3 has another line end"),
        (["20,F", '"20",F'], r"column 'age' has the same text with and without quotes \(record 2\)"),
        (['"F","F"', "F,F", "20,F", "20,F"], r"column 'age' has the same text .* \(record 2\)"),
    ],
)
def test_csv_that_readers_do_not_agree_on_is_refused(tmp_path, lines, fault, memory):
    with pytest.raises(DataError, match=rf"^release r\.csv: {fault}"):
        verdict(tmp_path, *lines, memory=memory)


@pytest.mark.parametrize(
    ("lines", "passed"),
    [
        (SAME, True),
        (['"20","F"', '"20","F"'], True),
        (['"20",F', '"20",F', "30,F", "30,F"], True),
        (["20,F", " 20,F"], False),
        (["20,F", "20 ,F"], False),
        (["20,F", '20,"F "'], False),
        (['20,"F\n"', '20,"F\r\n"'], False),
        (["20,\u00e9", "20,e\u0301"], False),
        (["20,", "20,"], True),
        (['20,""', '20,""'], True),
        (["20,", '20,""'], False),
    ],
)
def test_texts_of_csv_are_compared_as_they_are(tmp_path, lines, passed):
    assert verdict(tmp_path, *lines).passed is passed


@pytest.mark.promise("3.3")
@pytest.mark.parametrize("form", ["polars", "pandas", "pyarrow", "parquet"])
def test_null_is_not_an_empty_text(tmp_path, form):
    frame = pl.DataFrame({"age": ["20", "20"], "sex": ["", None]})
    path = tmp_path / "r.parquet"
    frame.write_parquet(path)
    release = {
        "polars": frame,
        "pandas": pd.DataFrame({"age": ["20", "20"], "sex": ["", None]}),
        "pyarrow": pa.table({"age": ["20", "20"], "sex": ["", None]}),
        "parquet": path,
    }[form]
    found = kohort.verify(release, POLICY)
    assert (found.passed, found.facts.classes) == (False, 2)
    assert kohort.verify(pl.concat([frame, frame]), POLICY).facts.classes == 2


def test_quotes_of_other_columns_and_of_the_original_do_not_matter(tmp_path):
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["sex"])
    original = tmp_path / "o.csv"
    original.write_text('age,sex\n"20",F\n\n20,"F"\n')
    assert verdict(tmp_path, '20,"F"', "20,F", policy=policy, original=original).passed


@pytest.mark.parametrize("delimiter", [":", " ", "~", "^", "\t"])
def test_a_release_has_the_delimiter_of_the_input(tmp_path, delimiter):
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age", "sex"], input={"delimiter": delimiter})
    path = tmp_path / "in.csv"
    frame = pl.DataFrame({"age": ["20", "21", "40", "42"], "sex": ["a, b", "a; b", "x:y", "x|y"]})
    frame.write_csv(path, separator=delimiter)
    out = tmp_path / "out.csv"
    assert kohort.anonymize(path, policy, output=out).verdict.passed
    assert kohort.verify(out, policy, original=path).passed
    assert delimiter in out.read_text().splitlines()[0]


@pytest.mark.parametrize("character", ["a", "7", '"'])
def test_a_delimiter_that_cells_consist_of_is_refused(character):
    with pytest.raises(kohort.errors.PolicyError, match="must be"):
        kohort.Policy.build(k=2, quasi_identifiers=["age"], input={"delimiter": character})


def test_odd_cells_and_a_single_column(tmp_path):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"])
    path.write_text('age\n\x01\n\x01\n""\n""\n')
    assert kohort.anonymize(path, policy, output=out).verdict.passed
    assert sorted(out.read_text().splitlines()) == ["\x01", "\x01", '""', '""', "age"]
    path.write_text("age\n1\n\n1\n")
    for action in (lambda: kohort.anonymize(path, policy), lambda: kohort.verify(out, policy, original=path)):
        with pytest.raises(DataError, match=r"line 3:? is empty"):
            action()


@pytest.mark.parametrize("memory", [None, "300MB"])
@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["1,x", '"1" ,x'], "line 3 has text after a closing quote"),
        (["1,x", ' "1",x'], "line 3 has a quote inside a cell"),
        (["1,x", '1,x"y'], "line 3 has a quote inside a cell"),
    ],
)
def test_an_original_that_has_two_meanings_is_refused_before_any_work(tmp_path, lines, fault, memory, monkeypatch):
    path = tmp_path / "in.csv"
    path.write_text("\n".join(["age,sex", *lines, ""]))
    monkeypatch.setattr("kohort.audit.audit.examine", None)
    monkeypatch.setattr("kohort.release.engines.memory.usable_of", None)
    monkeypatch.setattr("kohort.release.engines.disk.survey", None)
    with pytest.raises(DataError, match=rf"^in\.csv: {fault}"):
        kohort.anonymize(path, POLICY, output=tmp_path / "out.csv", memory=memory)
    assert not (tmp_path / "out.csv").exists()


def test_readers_that_disagree_are_a_refusal(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("age,sex\n1,x\n2,y\n")
    with pytest.raises(DataError, match="can be read as 2 or 3 records"):
        refuse_misread([path], POLICY, ["age", "sex"], 3)
    with pytest.raises(DataError, match="its header can be read in more than one way"):
        refuse_misread([path], POLICY, ["age,sex"], 2)
