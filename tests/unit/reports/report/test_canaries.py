"""No cell value of somebody who is alone with it is in a report, on the screen, in a certificate or in a verdict."""

import json
from html import unescape

import pytest

import kohort
from helpers.cli import called

from .conftest import CANARY, HOSTILE, RARE, RARE_DAY

CELLS = (CANARY, str(RARE), f"{RARE:,}", RARE_DAY, "74913586", "74,913,586", "987.65", "9.8765")


def test_the_table_has_the_canaries(folder):
    table = (folder.path / "people.csv").read_text()
    assert all(cell in table for cell in (CANARY, str(RARE), RARE_DAY, "74913586"))


def test_the_screen(folder):
    assert folder.made.returncode == 0
    said = folder.made.stdout + folder.made.stderr
    assert "verified" in said
    assert not any(cell in said for cell in CELLS)


REPORTS = ("public.html", "public.json", "private.html", "private-report.json")


@pytest.mark.parametrize("name", [*REPORTS, "out.csv.verdict.json", "private.json", "out.cert.json"])
def test_no_document_has_one(folder, pages, name):
    text = (folder.path / name).read_text()
    plain = unescape(text)
    assert len(plain) > 1000
    if not name.endswith(".cert.json"):
        plain = plain.replace(json.dumps(HOSTILE)[1:-1], "")
    assert [cell for cell in CELLS if cell in plain] == []


def test_a_private_report_can_be_read_by_its_owner_only(folder, pages):
    assert pages["private"].stat().st_mode & 0o077 == 0
    assert pages["public"].stat().st_mode & 0o044


def test_names_of_columns_are_texts(pages):
    for path in pages.values():
        text = path.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "{{" in text, "the name is shown as it is"
        assert "\u202e" not in text.replace("<text", ""), "what turns text around is not"


def test_a_file_that_fails_is_reported_without_its_cells(folder, tmp_path):
    here = folder.path
    found = kohort.report(here / "people.csv", here / "policy.toml", output=tmp_path / "report.html")
    assert not found.passed
    assert found.status == "not verified"
    text = unescape((tmp_path / "report.html").read_text())
    assert "does not keep its promise" in text
    assert not any(cell in text for cell in CELLS)


BESIDE = ("-p", "policy.toml", "--original", "people.csv")
COMMANDS = {
    "verify": ("verify", "out.csv", *BESIDE, "--json"),
    "verify in words": ("verify", "out.csv", *BESIDE),
    "a certificate": ("verify", "out.csv", "--certificate", "out.cert.json", "--json"),
    "risk": ("risk", "out.csv", *BESIDE, "--json"),
    "risk in words": ("risk", "out.csv", *BESIDE),
    "risk before": ("risk", "people.csv", "-p", "policy.toml", "--population-size", "5000"),
    "attack": ("attack", "out.csv", *BESIDE, "--json"),
    "attack in words": ("attack", "out.csv", *BESIDE),
    "attack by another release": ("attack", "out.csv", *BESIDE, "--against", "out.csv", "--auxiliary", "people.csv"),
    "measure": ("measure", "out.csv", *BESIDE, "--json"),
    "measure in words": ("measure", "out.csv", *BESIDE, "--target", "visits"),
    "why": ("why", "people.csv", "-p", "policy.toml"),
    "why for machines": ("why", "people.csv", "-p", "policy.toml", "--json"),
    "codebook": ("codebook", "out.csv", "-p", "policy.toml"),
    "codebook for machines": ("codebook", "out.csv", "-p", "policy.toml", "--json"),
    "check": ("check", "people.csv", "-p", "policy.toml"),
    "an original that is taken for a release": ("verify", "people.csv", "-p", "policy.toml"),
    "attack on an original": ("attack", "people.csv", "-p", "policy.toml", "--json"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_no_command_says_one(folder, pages, command):
    ended = called(*command, folder=folder.path)
    assert ended.returncode in (0, 1), ended.stderr
    said = (ended.stdout + ended.stderr).replace(json.dumps(HOSTILE)[1:-1], "")
    assert len(said) > 50
    assert [cell for cell in CELLS if cell in said] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figures.csv", "figures.json", "figures.parquet"])
def test_no_file_of_a_comparison_has_one(folder, pages, name):
    here = folder.path
    ended = called(
        *("compare", "people.csv", "-p", "policy.toml", "--algorithms", "mondrian,fast", "--k", "5,8", "--force"),
        *("--workers", "1", "--resume", "compared", "-o", name, "--chart", "chart.svg"),
        folder=here,
    )
    assert ended.returncode == 0, ended.stderr
    written = [here / name, here / "chart.svg", *(path for path in (here / "compared").rglob("*") if path.is_file())]
    assert len(written) > 4
    said = (ended.stdout + ended.stderr).encode() + b"".join(path.read_bytes() for path in written)
    assert [cell for cell in CELLS if cell.encode() in said] == []
