"""The way of somebody who has a table and has never seen kohort: init, anonymize, verify, in a terminal of 80 columns.

The proposed policy may be edited, in at most five lines; here nobody edits it.
"""

import difflib
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path
from random import Random

import polars as pl
import pytest

import kohort

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult" / "adult.csv"
CODE = "from kohort.cli.main import run; run()"
MOST_EDITED = 5
COLUMNS = 80


def in_terminal(folder, *arguments):
    """Run a command in a terminal of 80 columns; the lines that a person sees."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": str(COLUMNS)},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        shown += block
    os.close(ours)
    said = process.communicate()[1].decode()
    assert process.returncode == 0, said
    lines = shown.decode().replace("\r", "").splitlines()
    assert max(map(len, lines), default=0) <= COLUMNS
    return lines


def path_of_a_stranger(folder, table, edit=lambda text: text):
    """Init, an edit, anonymize and verify; the release, its policy and its verdict."""
    in_terminal(folder, "init", table, "-o", "policy.toml")
    proposed = (folder / "policy.toml").read_text()
    policy = edit(proposed)
    changes = [line for line in difflib.ndiff(proposed.splitlines(), policy.splitlines()) if line[0] in "+-"]
    assert len([line for line in changes if line[0] == "+"]) <= MOST_EDITED
    (folder / "policy.toml").write_text(policy)
    made = in_terminal(folder, "anonymize", table, "-p", "policy.toml", "-o", "release.csv")
    assert any(line.startswith("verified: ") for line in made)
    assert any("published as it is" in line for line in made) or "sensitive" not in policy
    # The verdict beside the file says what was promised.
    assert any(
        line.startswith("verified: ") for line in in_terminal(folder, "verify", "release.csv", "--original", table)
    )
    verdict = json.loads((folder / "release.csv.verdict.json").read_text())
    assert verdict["passed"]
    return pl.read_csv(folder / "release.csv", separator=_separator(folder), infer_schema=False), verdict


def _separator(folder):
    return ";" if ";" in (folder / "release.csv").read_text().splitlines()[0] else ","


def germans(rows):
    """A German table as a hospital writes it: days with points, decimal commas, and umlauts of Windows."""
    rng = Random(5)
    places = [("80331", "München"), ("50667", "Köln"), ("01067", "Dresden"), ("20095", "Hamburg")]
    ills = ("Grippe", "Asthma", "Migräne", "Gürtelrose")
    for number in range(rows):
        code, town = rng.choice(places)
        yield {
            "Patientennummer": str(100_000 + number),
            "Nachname": rng.choice(("Müller", "Schmidt", "Weiß", "Jäger", "Krüger", "Schäfer")),
            "Geburtsdatum": f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(1930, 2005)}",
            "Geschlecht": rng.choice(("männlich", "weiblich")),
            "PLZ": code,
            "Wohnort": town,
            "Gewicht": f"{rng.uniform(45, 130):.1f}".replace(".", ","),
            "Diagnose": rng.choice(ills),
        }


@pytest.mark.slow
def test_adult(tmp_path):
    if not ADULT.exists():
        pytest.skip("Adult is not in ../shared/data")
    (tmp_path / "adult.csv").write_bytes(ADULT.read_bytes())
    release, verdict = path_of_a_stranger(tmp_path, "adult.csv")
    assert release.height == 30_162
    assert verdict["facts"]["smallest_class"] >= 10
    policy = kohort.Policy.load(tmp_path / "policy.toml")
    assert len(policy.quasi_identifiers) >= 7
    assert kohort.measure(tmp_path / "release.csv", tmp_path / "adult.csv", policy).total < 0.15


@pytest.mark.slow
def test_a_german_table(tmp_path):
    table = pl.DataFrame(list(germans(600)))
    (tmp_path / "patienten.csv").write_bytes(table.write_csv(separator=";").encode("cp1252"))
    release, verdict = path_of_a_stranger(tmp_path, "patienten.csv")
    assert {"Patientennummer", "Nachname"}.isdisjoint(release.columns), "who it is goes"
    assert sorted(release["Diagnose"]) == sorted(table["Diagnose"]), "what nobody knows stays, with its umlauts"
    assert release["Geburtsdatum"].str.contains(r"\d{4}-\d\d-\d\d").mean() > 0.9, "days are read as days"
    assert verdict["as_is"]["columns"]["Diagnose"] == 4


@pytest.mark.slow
def test_a_workbook(tmp_path):
    pytest.importorskip("xlsxwriter")
    table = pl.DataFrame(list(germans(300))).with_columns(pl.col("Gewicht").str.replace(",", ".").cast(pl.Float64))
    table.write_excel(tmp_path / "patienten.xlsx")
    release, verdict = path_of_a_stranger(tmp_path, "patienten.xlsx")
    assert "Nachname" not in release.columns
    assert release.height == 300
    assert verdict["facts"]["smallest_class"] >= 10
