"""A release in several tables: every table a file of its own, verified by a promise of its own."""

import gzip
import json
import sys
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.algorithms.two_level import SubTable, TwoLevel
from kohort.errors import DataError, PolicyError, VerificationError

GROUPS = [["birth_date", "length_of_stay"], ["zip_code"], ["education", "sex", "ethnicity"]]


@pytest.fixture
def apart(policy):
    """The policy of the hospital, published in three tables; what would link them is dropped."""
    dropped = {name: {"role": "identifier"} for name in ("admission_date", "cost")}
    accepted = {"form": "vertical", "accept_broken_guarantee": True, "grouping": "unequal", "groups": GROUPS}
    return (
        policy.with_changes("columns", **dropped)
        .with_changes("algorithm", name="two-level", parameters=accepted)
        .with_changes("privacy", k=8)
    )


def read(path):
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return pl.read_csv(content, infer_schema=False)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_every_table_is_a_file(tmp_path, hospital, apart, suffix):
    release = kohort.anonymize(hospital, apart, output=tmp_path / f"out.{suffix}")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"out.{n}.{suffix}" for n in (1, 2, 3)]
    assert list(release.tables) == ["1", "2", "3"]
    assert release.table.equals(release.tables["1"])
    effective = [value for name, value in release.facts.items() if name.startswith("effective k of table")]
    for number, names, smallest in zip((1, 2, 3), GROUPS, effective, strict=True):
        written = read(tmp_path / f"out.{number}.{suffix}")
        assert written.columns == [*names, "diagnosis"]
        assert written.height == hospital.height
        assert min(Counter(written.select(names).rows()).values()) == smallest >= 4
        assert sorted(written["diagnosis"]) == sorted(hospital["diagnosis"])


def test_every_table_can_be_verified_by_its_own_promise(tmp_path, hospital, apart):
    kohort.anonymize(hospital, apart, output=tmp_path / "out.csv")
    for number, names in enumerate(GROUPS, 1):
        path = tmp_path / f"out.{number}.csv"
        promise = apart.of_columns([*names, "diagnosis"], k=4)
        assert kohort.verify(path, promise, original=hospital.select(*promise.columns)).passed
        assert not kohort.verify(path, promise.with_changes("privacy", k=200)).passed


def test_the_verdict_is_about_every_table(hospital, apart):
    verdict = kohort.anonymize(hospital, apart).verdict
    assert verdict.passed
    assert verdict.facts.k == 4, "the least that a table promises, not the k of the policy"
    for number in "123":
        found = {check.name for check in verdict.checks if check.table == number}
        assert {"columns", "k", "suppression", "rows", "coverage", "values"} <= found
    assert "table 2: every one of" in verdict.reason
    public = json.loads(kohort.anonymize(hospital, apart).public_json())
    assert "NOT promised for the quasi-identifiers of all tables together" in public["warning"]


@pytest.mark.slow
def test_no_two_tables_have_the_same_order(hospital, apart):
    """The place of a row tells nothing about the place of the same record in another table."""
    marked = hospital.with_columns(diagnosis=pl.Series([f"d{i}" for i in range(hospital.height)]))

    def orders(policy):
        release = kohort.anonymize(marked, policy)
        return [table["diagnosis"].to_list() for table in release.tables.values()]

    fixed, again = orders(apart), orders(apart)
    fresh = orders(apart.with_changes("output", shuffle_seed=None))
    assert fixed == again
    different = [*fixed, *fresh, marked["diagnosis"].to_list()]
    assert len({tuple(order) for order in different}) == 7
    for one in range(7):
        for other in range(one):
            same = sum(a == b for a, b in zip(different[one], different[other], strict=True))
            assert same < 20, "about one row in a random order is where it was"


@pytest.mark.promise("4.1")
def test_nothing_that_links_rows_is_published(hospital, apart):
    release = kohort.anonymize(hospital, apart)
    for table in release.tables.values():
        assert not set(table.columns) & {"name", "admission_date", "cost", "id"}


def test_kinds_of_frames(hospital, apart):
    release = kohort.anonymize(hospital.to_pandas(), apart)
    assert all(isinstance(table, pd.DataFrame) for table in release.tables.values())


def test_records_with_missing_values_are_withheld_from_every_table(hospital, apart):
    strict = apart.with_changes("privacy", missing="suppress", suppression_limit=0.5)
    complete = hospital.drop_nulls(list(apart.quasi_identifiers)).height
    assert complete < hospital.height
    release = kohort.anonymize(hospital, strict)
    assert {table.height for table in release.tables.values()} == {complete}
    assert release.verdict.facts.withheld == hospital.height - complete


@pytest.mark.promise("3.4")
def test_the_files_of_an_earlier_release_stay_if_one_table_fails(tmp_path, hospital, apart, monkeypatch):
    """The last table promises more than it keeps, so none is published."""
    plain = TwoLevel.solve

    def boasting(self, task):
        solution = plain(self, task)
        *others, last = solution.tables
        object.__setattr__(solution, "tables", (*others, SubTable(last.axes, 399)))
        return solution

    monkeypatch.setattr(TwoLevel, "solve", boasting)
    old = {tmp_path / f"out.{n}.csv": f"old {n}" for n in (1, 3)}
    for path, text in old.items():
        path.write_text(text)
    with pytest.raises(VerificationError, match=r"was not published: table 3: .* smaller than k = 399"):
        kohort.anonymize(hospital, apart, output=tmp_path / "out.csv", overwrite=True)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == old


def test_a_box_that_does_not_cover_is_caught_in_any_table(tmp_path, hospital, apart, monkeypatch):
    plain = TwoLevel.solve

    def shifted(self, task):
        solution = plain(self, task)
        [zip_code] = solution.tables[1].axes
        lo, hi = solution.boxes.lo, solution.boxes.hi
        lo[:, zip_code] = hi[:, zip_code] = np.roll(hi[:, zip_code], 1)
        return solution

    monkeypatch.setattr(TwoLevel, "solve", shifted)
    with pytest.raises(VerificationError, match="was not published"):
        kohort.anonymize(hospital, apart, output=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_table_never_takes_the_place_of_the_input(tmp_path, hospital, apart):
    source = tmp_path / "patients.2.csv"
    hospital.write_csv(source)
    before = source.read_bytes()
    with pytest.raises(PolicyError, match=r"the output 2 patients\.2\.csv is the input itself; give another path"):
        kohort.anonymize(source, apart, output=tmp_path / "patients.csv")
    assert source.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


def test_a_table_never_takes_the_place_of_the_policy_or_a_folder(tmp_path, hospital, apart):
    path = tmp_path / "out.3.csv"
    path.write_text(apart.to_toml())
    with pytest.raises(PolicyError, match="is the policy itself"):
        kohort.anonymize(hospital, path, output=tmp_path / "out.csv")
    path.unlink()
    path.mkdir()
    with pytest.raises(DataError, match="is a directory"):
        kohort.anonymize(hospital, apart, output=tmp_path / "out.csv")


def test_the_command_line_tells_the_facts_and_every_path(tmp_path, hospital, apart):
    hospital.write_csv(tmp_path / "patients.csv")
    (tmp_path / "policy.toml").write_text(apart.to_toml())
    arguments = ["anonymize", "patients.csv", "-p", "policy.toml", "-o", "out.csv"]
    done = called(*arguments, folder=tmp_path)
    assert done.returncode == 0
    assert "warning: k is NOT kept on all quasi-identifiers together" in done.stdout
    assert "effective k of table 2 (zip_code): " in done.stdout
    assert "records whose classes have one sensitive value in common: " in done.stdout
    assert "written to out.1.csv, out.2.csv, out.3.csv" in done.stdout
    assert "verified:    in each of 3 tables, every record looks like at least" in done.stdout
    written = {path.name for path in tmp_path.iterdir()} - {"patients.csv", "policy.toml"}
    assert written == {"out.1.csv", "out.2.csv", "out.3.csv", "out.csv.verdict.json"}


@pytest.mark.promise("1.5")
def test_without_acceptance_the_command_line_refuses(tmp_path, hospital, apart):
    refused = apart.with_changes("algorithm", parameters={"form": "vertical"})
    hospital.write_csv(tmp_path / "patients.csv")
    (tmp_path / "policy.toml").write_text(refused.to_toml())
    arguments = ["anonymize", "patients.csv", "-p", "policy.toml", "-o", "out.csv"]
    done = called(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert "sub-tables that do not keep k on all quasi-identifiers together" in done.stderr
    assert len(list(tmp_path.iterdir())) == 2


def test_a_verdict_never_takes_the_place_of_a_table(tmp_path, capsys, monkeypatch):
    from kohort.cli.main import run

    frame = pl.DataFrame({"age": [30, 31, 60, 61], "illness": list("abab")})
    frame.write_csv(tmp_path / "in.csv")
    parameters = {"form": "vertical", "accept_broken_guarantee": True}
    policy = kohort.Policy.build(
        k=2, quasi_identifiers=["age"], sensitive=["illness"], algorithm={"name": "two-level", **parameters}, seed=1
    )
    (tmp_path / "policy.toml").write_text(policy.to_toml())
    command = ["anonymize", str(tmp_path / "in.csv"), "-p", str(tmp_path / "policy.toml")]
    command += ["-o", str(tmp_path / "out.csv"), "--verdict", str(tmp_path / "out.1.csv")]
    monkeypatch.setattr(sys, "argv", ["kohort", *command])
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 2
    assert "is the output 1 itself" in capsys.readouterr().err
    assert not (tmp_path / "out.1.csv").exists()
