"""`anonymize --row-order`: what verify needs to count persons again."""

import stat

import polars as pl
import pytest

import kohort
from helpers.cli import called

VISITS = pl.DataFrame(
    {
        "patient": [f"P{row // 3}" for row in range(120)],
        "age": [20 + row // 3 for row in range(120)],
        "diagnosis": ["flu", "cold", "asthma", "gout"] * 30,
    }
)
POLICY = """
[privacy]
k = 4
person = "patient"
[algorithm]
seed = 1
bound_effort = 0.0
[columns]
patient = "identifier"
age = "quasi"
diagnosis = "sensitive"
"""


@pytest.fixture
def folder(tmp_path):
    VISITS.write_csv(tmp_path / "visits.csv")
    (tmp_path / "p.toml").write_text(POLICY)
    return tmp_path


@pytest.mark.parametrize("name", ["order.txt", "order.parquet"])
def test_persons_are_counted_again_with_the_order_of_rows(folder, name):
    done = called(*f"anonymize visits.csv -p p.toml -o r.csv --row-order {name}".split(), folder=folder)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    for policy in ("", "-p p.toml"):
        plain = called(*f"verify r.csv {policy} --original visits.csv".split(), folder=folder)
        assert plain.returncode == 1, "what is not confirmed is no success"
        assert "\nnot decided: persons cannot be counted" in plain.stdout
        assert "NOT verified" not in plain.stdout
        assert "--row-order FILE" in plain.stdout
        again = called(*f"verify r.csv {policy} --original visits.csv --row-order {name}".split(), folder=folder)
        assert again.returncode == 0, again.stdout
        assert "every class has at least 4 persons" in again.stdout


def test_a_promise_that_is_broken_is_never_undecided(folder):
    assert called(*["anonymize", "visits.csv", "-p", "p.toml", "-o", "r.csv"], folder=folder).returncode == 0
    rows = pl.read_csv(folder / "r.csv").with_columns(age=pl.Series([f"{n}" for n in range(120)]))
    found = kohort.verify(rows, folder / "p.toml", original=VISITS)
    assert not found.passed
    assert not found.undecided
    fine = kohort.verify(folder / "r.csv", folder / "p.toml")
    assert fine.undecided
    assert not fine.passed


def test_who_makes_such_a_release_is_told(folder):
    told = called(*["anonymize", "visits.csv", "-p", "p.toml", "-o", "r.csv"], folder=folder)
    assert "--row-order FILE keeps it" in told.stdout
    kept = called(*["anonymize", "visits.csv", "-p", "p.toml", "-o", "s.csv", "--row-order", "o.txt"], folder=folder)
    assert "keeps it" not in kept.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("-o r.csv --row-order visits.csv", "visits.csv"),
        ("-o r.csv --row-order r.csv", "r.csv"),
        ("-o r.csv --row-order there.txt", "already there"),
        ("-o r.csv --row-order o.txt --memory 1GB", "row-order"),
        ("-o sqlite:///x.db --to-table t --row-order o.txt", "rows of a table in a database have none"),
    ],
)
def test_where_an_order_cannot_go_it_is_refused(folder, options, says):
    (folder / "there.txt").write_text("mine")
    policy = POLICY.replace('person = "patient"\n', "")
    (folder / "p.toml").write_text(policy)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = called(*f"anonymize visits.csv -p p.toml {options}".split(), folder=folder)
    assert done.returncode == 2
    assert says in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_order_needs_an_output(folder):
    with pytest.raises(kohort.DataError, match="row_order"):
        kohort.anonymize(VISITS, folder / "p.toml", row_order=folder / "o.txt")
