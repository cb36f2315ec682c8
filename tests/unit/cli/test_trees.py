"""`kohort hierarchy suggest | complete | check | show --svg`."""

import os
import pty
import re
import subprocess
import sys

import polars as pl
import pytest

import kohort
from helpers.cli import called

SECRET = "Timbuktu"


@pytest.fixture
def folder(tmp_path):
    cells = ["DE", "FR", "IT", "JP", "CN", "?"] * 10
    pl.DataFrame(
        {
            "country": cells,
            "age": [str(18 + n) for n in range(60)],
            "plz": ["10115", "10117", "80331", "80333", "20095", "50667"] * 10,
            "seen": [f"2024-{1 + n % 12:02}-10" for n in range(60)],
            "town": ["Bonn", "Ulm", "Trier"] * 19 + ["Bonn", "Ulm", SECRET],
        }
    ).write_csv(tmp_path / "data.csv")
    (tmp_path / "policy.toml").write_text(
        '[input]\nmissing = ["", "?"]\n[privacy]\nk = 3\n[columns]\n'
        'country = "quasi"\nage = "quasi"\nseen = "identifier"\nplz = "identifier"\ntown = "quasi"\n'
    )
    return tmp_path


@pytest.mark.parametrize(
    ("column", "label", "reason"),
    [
        ("country", "Europe", "regions of the United Nations"),
        ("age", "<= ", "least sum of records times width"),
        ("seen", "2024-Q1", "calendar periods"),
        ("plz", "1011*", "codes that begin alike"),
        ("town", " or ", "alike in the other columns"),
    ],
)
def test_a_hierarchy_is_suggested_with_its_reason_and_the_line_to_paste(folder, column, label, reason):
    done = called("hierarchy", "suggest", "data.csv", column, "-o", "tree.csv", "-p", "policy.toml", folder=folder)
    assert done.returncode == 0, done.stderr
    assert reason in done.stdout
    assert 'hierarchy = "tree.csv"' in done.stdout
    text = (folder / "tree.csv").read_text()
    assert label in text
    assert "?" not in text  # a text for missing values of the policy
    policy = kohort.Policy.load(folder / "policy.toml")
    pasted = (
        (folder / "policy.toml").read_text().replace(f'{column} = "', f'{column} = {{ hierarchy = "tree.csv", role = "')
    )
    if column in policy.quasi_identifiers:
        pasted = re.sub(rf"^({column} = .*)$", r"\1 }", pasted, flags=re.MULTILINE)
        (folder / "pasted.toml").write_text(pasted)
        assert kohort.anonymize(folder / "data.csv", folder / "pasted.toml").verdict.passed


def test_a_file_is_not_written_over(folder):
    (folder / "tree.csv").write_text("mine")
    done = called("hierarchy", "suggest", "data.csv", "town", "-o", "tree.csv", folder=folder)
    assert done.returncode == 2
    assert (folder / "tree.csv").read_text() == "mine"


@pytest.mark.parametrize("column", ["towns", "one"])
def test_what_cannot_be_suggested_is_refused(folder, column):
    pl.DataFrame({"one": ["a", "b"] * 9}).write_csv(folder / "few.csv")
    done = called("hierarchy", "suggest", "few.csv", column, "-o", "tree.csv", folder=folder)
    assert done.returncode == 2
    assert not (folder / "tree.csv").exists()


def test_missing_leaves_are_added_where_they_belong(folder):
    pl.DataFrame({"code": ["A1", "A2", "A3", "C7"]}).write_csv(folder / "codes.csv")
    (folder / "code.csv").write_text("A1;A*;*\nA2;A*;*\n")
    done = called("hierarchy", "complete", "code.csv", "codes.csv", "-o", "whole.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "added 2: 1 under a branch, 1 directly under the root." in done.stdout
    rows = set((folder / "whole.csv").read_text().splitlines())
    assert {"A3;A*;*", "C7;C7;*"} <= rows
    assert (
        called("hierarchy", "check", "whole.csv", "--column", "code", "--data", "codes.csv", folder=folder).returncode
        == 0
    )


def test_values_that_are_no_leaf_are_shown_on_a_terminal_and_nowhere_else(folder):
    (folder / "town.csv").write_text("Bonn;*\nUlm;*\nTrier;*\n")
    asked = ["hierarchy", "check", "town.csv", "--data", "data.csv"]
    piped = called(*asked, folder=folder)
    assert piped.returncode == 2
    assert SECRET not in piped.stdout + piped.stderr
    assert SECRET not in called(*asked, "--json", folder=folder).stdout
    main, other = pty.openpty()
    code = "from kohort.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *asked], cwd=folder, stdout=other, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(other)
        shown = b""
        try:
            while block := os.read(main, 4096):
                shown += block
        except OSError:  # the other end of a terminal is closed
            pass
        assert process.stderr is not None
        said = process.stderr.read()
    os.close(main)
    assert process.returncode == 2
    assert SECRET in shown.decode()
    assert SECRET not in said


def test_a_policy_says_what_is_missing_when_a_file_is_checked(folder):
    (folder / "country.csv").write_text("".join(f"{code};*\n" for code in ("DE", "FR", "IT", "JP", "CN")))
    asked = ["hierarchy", "check", "country.csv", "--data", "data.csv"]
    assert called(*asked, folder=folder).returncode == 2
    assert called(*asked, "-p", "policy.toml", folder=folder).returncode == 0


def test_a_tree_is_drawn_to_a_file_that_fetches_nothing(folder):
    (folder / "town.csv").write_text("Bonn;Rhein;*\nKöln;Rhein;*\nUlm;Ulm;*\n")
    assert called("hierarchy", "show", "town.csv", "--svg", "tree.svg", folder=folder).returncode == 0
    drawn = (folder / "tree.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "Rhein" in drawn
    assert "url(http" not in drawn
    assert set(re.findall(r"https?://[^\"' )]+", drawn)) == {"http://www.w3.org/2000/svg"}
    assert called("hierarchy", "show", "town.csv", "--svg", "tree.svg", folder=folder).returncode == 2
