"""`kohort risk`: what it prints, what it refuses, and that no cell is in it."""

import json

import polars as pl
import pytest

import kohort
from helpers.cli import called

ROWS = [("31", "xF", "canary1"), ("31", "xF", "canary2"), ("64", "xM", "canary3"), ("66", "xM", "canary4")]
QI = ["--qi", "age,sex"]


@pytest.fixture
def data(tmp_path):
    pl.DataFrame(ROWS, schema=["age", "sex", "ill"], orient="row").write_csv(tmp_path / "data.csv")
    return tmp_path


def test_in_words(data):
    done = called("risk", "data.csv", *QI, folder=data)
    assert done.returncode == 0
    assert "2 rows of 4 (50 %) are unique" in done.stdout
    assert [line.split() for line in done.stdout.splitlines() if "prosecutor, mean" in line] == [
        ["prosecutor,", "mean", "75", "%"]
    ]
    assert "canary" not in done.stdout


def test_as_json(data):
    done = called("risk", "data.csv", *QI, "--population-size", "100", "--json", folder=data)
    found = json.loads(done.stdout)
    assert found["public"]["quasi"]["unique"] == 2
    assert found["public"]["uniqueness"]["population"] == 100
    assert found["private"] == {"original": None, "containment": None, "population": None}
    assert not any(cell in done.stdout for cell in ("canary", "xF", '"31"', '"66"'))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["data.csv"], "cannot be opened"),
        (["data.csv", "--qi", "agee"], "'agee' is not in the file"),
        (["data.csv", *QI, "--population-size", "2"], "2 people and the table 4 rows"),
        (["data.csv", *QI, "--sampling-fraction", "2"], "1 at most"),
        (["nothing.csv", *QI], "nothing.csv"),
        (["data.csv", *QI, "--original", "nothing.csv"], "nothing.csv"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(data, options, says):
    done = called("risk", *options, folder=data)
    assert done.returncode == 2
    assert says in done.stderr.replace("\n", " ")
    assert "canary" not in done.stderr
    assert not done.stdout


def test_every_kind_of_file(data):
    frame = pl.read_csv(data / "data.csv", infer_schema=False)
    frame.write_parquet(data / "data.parquet")
    frame.write_excel(data / "data.xlsx")
    found = [
        kohort.risk(data / name, quasi_identifiers=["age", "sex"]).to_dict()
        for name in ("data.csv", "data.parquet", "data.xlsx")
    ]
    assert found[0] == found[1] == found[2]


def test_a_release_of_kohort_says_itself_what_it_promised(data):
    done = called("demo", "--folder", ".", "--rows", "300", "--k", "5", folder=data)
    assert done.returncode == 0
    done = called("risk", "release.csv", "--original", "patients.csv", "--json", folder=data)
    found = json.loads(done.stdout)
    assert found["k"] == 5
    assert found["public"]["quasi"]["smallest"] >= 5
    assert found["private"]["containment"]["below_k"] == 0
    assert found["private"]["original"]["quasi"]["unique"] > 0
