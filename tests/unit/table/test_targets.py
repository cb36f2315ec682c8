"""Where nothing may be written: over what is read, over what is no file, and where no file can be."""

import os
import socket

import pytest

import kohort
from kohort.errors import DataError, PolicyError
from kohort.privacy import models_of
from kohort.table.targets import input_of, read_by, refuse_targets, verdict_path


@pytest.fixture
def folder(tmp_path):
    for name in ("in/a.csv", "in/sub/b.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("age,ill\n1,x\n1,y\n")
    return tmp_path


def said(targets, taken):
    with pytest.raises((PolicyError, DataError)) as refused:
        refuse_targets(targets, taken)
    [sentence] = refused.value.faults
    return sentence


@pytest.mark.parametrize("given", ["in", "in/*", "in/**/*.csv", "in/a.csv"])
def test_a_file_that_is_read_is_not_written_over(folder, given):
    taken = input_of(folder / given)
    assert said({"output": folder / "in/a.csv"}, taken) == ("the output a.csv is the input itself; give another path.")
    refuse_targets({"output": folder / "out.csv"}, taken)


@pytest.mark.promise("3.5")
def test_links_and_other_letters_are_the_same_file(folder):
    taken = input_of(folder / "in")
    os.link(folder / "in/a.csv", folder / "hard.csv")
    (folder / "soft.csv").symlink_to("in/sub/b.csv")
    (folder / "other").symlink_to("in")
    for name in ("hard.csv", "soft.csv", "other/a.csv", "in/A.CSV"):
        assert "is the input itself" in said({"output": folder / name}, taken), name
    (folder / "straße.csv").write_text("age\n")
    for name in ("STRASSE.csv", "strasse.csv"):
        assert "itself" in said({"output": folder / name}, {"input": folder / "straße.csv"}), name
    (folder / "e\u0301.csv").write_text("age\n")
    assert "itself" in said({"output": folder / "É.csv"}, {"input": folder / "e\u0301.csv"})


@pytest.mark.parametrize("given", ["in", "in/**/*.csv", "in/*.csv"])
def test_a_new_file_among_those_that_are_read_is_refused(folder, given):
    assert "would be read as one of the files of the input" in said(
        {"output": folder / "in/new.csv"}, input_of(folder / given)
    )


def test_a_new_file_beside_a_pattern_is_written(folder):
    refuse_targets({"output": folder / "in/new.csv"}, input_of(folder / "in/a*.csv"))
    refuse_targets({"output": folder / "in/sub/new.csv"}, input_of(folder / "in/*.csv"))


@pytest.mark.promise("3.5")
def test_everything_that_a_policy_names_is_read(folder):
    (folder / "town.csv").write_text("x;*\n")
    (folder / "people.csv").write_text("age\n1\n")
    (folder / "key").write_bytes(b"0" * 32)
    (folder / "policy.toml").write_text(
        """
        [privacy]
        k = 2
        models = [{ model = "k-map", k = 2, population = "people.csv" }]
        [output]
        pseudonym_key = { file = "key" }
        [columns.who]
        role = "identifier"
        pseudonym = true
        [columns.age]
        role = "quasi"
        type = "integer"
        [columns.town]
        role = "quasi"
        hierarchy = "town.csv"
        """
    )
    policy = kohort.Policy.load(folder / "policy.toml")
    taken = read_by(folder / "in/a.csv", policy, models_of(policy))
    for name, what in {
        "town.csv": "hierarchy of column 'town'",
        "people.csv": "population of 'k-map'",
        "key": "pseudonym key",
        "policy.toml": "policy",
        "in/a.csv": "input",
    }.items():
        for target in ("output", "verdict", "private verdict", "ledger"):
            assert f"is the {what} itself" in said({target: folder / name}, taken)


def test_targets_are_compared_with_each_other(folder):
    assert said({"output": folder / "out.csv", "verdict": folder / "OUT.csv"}, {}) == (
        "the verdict OUT.csv is the output itself; give another path."
    )


def test_a_folder_without_access_is_refused_before_any_work(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(DataError, match=r"^out\.csv: cannot be written \(no access to its folder\)"):
        refuse_targets({"output": folder / "out.csv"}, {})


def test_what_is_no_file_is_not_replaced(folder, monkeypatch):
    os.mkfifo(folder / "pipe.csv")
    (folder / "link.csv").symlink_to("nothing")
    (folder / "loop.csv").symlink_to("loop.csv")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.csv")
        for name, why in {
            "pipe.csv": "it is a pipe",
            "link.csv": "it is a link to nothing",
            "loop.csv": "Too many levels of symbolic links",
            "socket.csv": "it is a socket",
            "/dev/null": "it is a device",
            "in": "is a directory",
            ".": "is a directory",
            "..": "is a directory",
            "": "is a directory",
            "/": "is a directory",
            "in/a.csv/x.csv": "No such file or directory",
            f"{'x' * 252}.csv": "its name has more than 255 bytes",
            f"{'é' * 126}.csv": "its name has more than 255 bytes",
            "a\0b.csv": "a name cannot hold a NUL",
        }.items():
            from pathlib import Path

            assert f"cannot be written ({why});" in said({"output": Path(name)}, {}), name


def test_an_input_that_cannot_be_is_said_when_it_is_read(tmp_path):
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], seed=1)
    for name in ("x" * 300 + ".csv", "x" * 300 + "*.csv"):
        with pytest.raises(DataError):
            kohort.anonymize(tmp_path / name, policy, output=tmp_path / "out.csv")


def test_a_verdict_without_a_name_to_stand_beside(folder):
    from pathlib import Path

    with pytest.raises(DataError, match="is a directory"):
        verdict_path(Path())


@pytest.mark.promise("3.5")
def test_an_output_among_the_input_files_destroys_nothing(folder):
    """The table is in a folder, and the output is one of its files."""
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    before = (folder / "in/a.csv").read_bytes()
    with pytest.raises(PolicyError, match="is the input itself"):
        kohort.anonymize(folder / "in", policy, output=folder / "in/a.csv", memory="1GB")
    assert (folder / "in/a.csv").read_bytes() == before


def test_a_release_may_have_the_longest_name(folder):
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    out = folder / f"{'x' * 251}.csv"
    assert kohort.anonymize(folder / "in/a.csv", policy, output=out).path.exists()
    assert {path.name for path in folder.iterdir()} == {"in", out.name}
