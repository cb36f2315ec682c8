"""Ledgers on the command line: what is refused, with its words and its exit code, changes nothing."""

import json
import re
from dataclasses import replace

import pytest

from faults import harness
from faults.harness import (
    CANARY,
    DATA,
    POLICY,
    Fault,
    assert_refused,
    changed,
    command,
    contents,
    each,
    like,
    place,
    says,
)
from helpers.ledgers import ledger


def assert_nothing_told(ended):
    """No cell is told; a hash may hold the digits of one by chance."""
    harness.assert_nothing_told(replace(ended, out=re.sub(r"\b[0-9a-f]{64}\b", "", ended.out)))


FLAG = ("--ledger", "ledger.json")
GOOD = ledger(2).to_json()
STRANGE = "ledger ledger.json: is not a whole ledger of kohort; give another file, or restore the file from a copy."
CHANGED = "ledger ledger.json: release 1 was changed after it was written; restore the file from a copy."
MALFORMED = "ledger ledger.json: release 1 is malformed; restore the file from a copy."

LEDGERS = {
    "no-json": (CANARY, STRANGE),
    "half": (GOOD[: len(GOOD) // 2], STRANGE),
    "nothing": ("", STRANGE),
    "tampered": (GOOD.replace(f"{CANARY}-0", "flu"), CHANGED),
    "malformed": (GOOD.replace('"count":2', f'"count":"{CANARY}"'), MALFORMED),
    "later": (
        GOOD.replace('"version":1', '"version":7'),
        "ledger ledger.json: this version of kohort reads version 1 only; update kohort.",
    ),
}
READING = [
    Fault(f"{name}-ledger", says(sentence), files={"ledger.json": text}, options=FLAG)
    for name, (text, sentence) in LEDGERS.items()
]
VERIFY = ("verify", "people.csv", "-p", "policy.toml", "--against", "ledger.json")
VERIFYING = [
    Fault(f"verify-{name}-ledger", says(sentence), files={"ledger.json": text}, command=VERIFY)
    for name, (text, sentence) in LEDGERS.items()
]
OTHERS = [
    Fault(
        "verify-without-ledger",
        says("ledger ledger.json: cannot be read (no such file or directory); check the path."),
        command=VERIFY,
    ),
    Fault("list-without-ledger", says(like(r"ledger l\.json: cannot be read .*")), command=("ledger", "l.json")),
    Fault(
        "list-a-table",
        says("ledger people.csv: is not a whole ledger of kohort; give another file, or restore the file from a copy."),
        command=("ledger", "people.csv"),
    ),
    Fault(
        "drop-in-a-table",
        says(like(r"ledger people\.csv: is not a whole ledger .*")),
        command=("ledger", "people.csv", "--drop-pending"),
    ),
    Fault(
        "ledger-over-the-release",
        says(like(r"the ledger release\.csv is the output itself; .*")),
        options=("--ledger", "release.csv"),
    ),
    Fault("ledger-over-the-input", says(like(r".*people\.csv.*")), options=("--ledger", "people.csv")),
    Fault("ledger-over-the-policy", says(like(r".*policy\.toml.*")), options=("--ledger", "policy.toml")),
    Fault(
        "ledger-over-the-verdict",
        says(like(r".*release\.csv\.verdict\.json.*")),
        options=("--ledger", "release.csv.verdict.json"),
    ),
    Fault("ledger-in-no-folder", says(like(r".*make the folder first\.")), options=("--ledger", "none/l.json")),
    Fault(
        "persons-without-key",
        says("ledger key: persons are hashed under a key, and there is none; give its file, or set KOHORT_LEDGER_KEY."),
        options=(*FLAG, "--person", "name"),
    ),
    Fault(
        "persons-under-a-short-key",
        says("ledger key: it has fewer than 16 bytes and could be guessed; take 32 random ones."),
        options=(*FLAG, "--person", "name", "--ledger-key", "key"),
        files={"key": "sekret"},
    ),
    Fault(
        "persons-by-a-published-column",
        says("person: 'town' must be a column of role 'identifier', which is never published."),
        options=(*FLAG, "--person", "town"),
    ),
    Fault(
        "persons-without-ledger",
        says("ledger: a person column and a key are for a ledger, and none is given; give one."),
        options=("--person", "name"),
    ),
    Fault(
        "matchings",
        says(like(r".*a ledger compares releases in classes only; set anonymity = 'classes', or leave .*")),
        policy=changed("[algorithm]", 'anonymity = "matchings"\n[algorithm]\nname = "nh"'),
        options=FLAG,
    ),
]


@each([*READING, *VERIFYING, *OTHERS])
def test_a_ledger_that_cannot_be_used_is_refused(fault, folder, capfd, monkeypatch):
    monkeypatch.delenv("KOHORT_LEDGER_KEY", raising=False)
    assert_refused(fault, folder, capfd)


NEXT = DATA.replace(",flu", ",gout")
"""One illness of the first class is another one now."""


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_release_that_tells_too_much_with_an_earlier_one(folder, capfd, options):
    place(folder, {"policy.toml": POLICY, "people.csv": DATA, "next.csv": NEXT})
    first = command(capfd, "anonymize", "people.csv", "-p", "policy.toml", "-o", "1.csv", *FLAG)
    assert first.code == 0
    assert "recorded in ledger.json." in first.out
    assert first.out.rstrip().endswith("written to 1.csv, 1.csv.verdict.json")
    before = contents(folder)
    ended = command(capfd, "anonymize", "next.csv", "-p", "policy.toml", "-o", "2.csv", *FLAG, *options)
    assert_nothing_told(ended)
    assert ended.code == 1
    assert "fewer than 2 values of column 'disease' in 1 pair; up to 1 record of this release is affected." in (
        ended.out + ended.err
    )
    assert contents(folder) == before


def test_verify_against_a_ledger(folder, capfd):
    place(folder, {"policy.toml": POLICY, "people.csv": DATA, "next.csv": NEXT})
    for table, output, flag in (("people.csv", "1.csv", FLAG), ("next.csv", "2.csv", ())):
        assert command(capfd, "anonymize", table, "-p", "policy.toml", "-o", output, *flag).code == 0
    before = contents(folder)
    verify = ("-p", "policy.toml", "--against", "ledger.json")
    same, other, facts = (
        command(capfd, "verify", *arguments, *verify) for arguments in (("1.csv",), ("2.csv",), ("2.csv", "--json"))
    )
    assert (same.code, other.code, facts.code) == (0, 1, 1)
    for ended in (same, other, facts):
        assert_nothing_told(ended)
    [found] = [check for check in json.loads(facts.out)["checks"] if check["name"] == "intersection"]
    assert (found["passed"], found["figures"]["pairs_failing"]) == (False, 1)
    assert contents(folder) == before


def test_the_list_of_releases_tells_no_value(folder, capfd, monkeypatch):
    monkeypatch.setenv("KOHORT_LEDGER_KEY", "sekret, and long enough")
    place(folder, {"policy.toml": POLICY, "people.csv": DATA, "old.json": GOOD})
    ended = command(capfd, "ledger", "old.json")
    assert_nothing_told(ended)
    assert ended.out.splitlines()[0] == "  1  2026-01-01T00:00:00Z  published  2 records in 1 class"
    made = command(capfd, "anonymize", "people.csv", "-p", "policy.toml", "-o", "1.csv", *FLAG, "--person", "name")
    assert made.code == 0
    ended = command(capfd, "ledger", "ledger.json", "--json")
    assert_nothing_told(ended)
    [entry] = json.loads(ended.out)["releases"]
    assert (entry["status"], entry["rows"], entry["classes"], entry["persons"]) == ("published", 4, 2, 4)
    text = (folder / "ledger.json").read_text()
    assert "sekret, and" not in text
    assert f"{CANARY}-" not in text


def test_pending_releases_are_dropped_when_asked(folder, capfd):
    pending = GOOD.replace('"status":"published"', '"status":"pending"', 1)
    place(folder, {"ledger.json": pending})
    assert command(capfd, "ledger", "ledger.json").out.count("pending") == 1
    ended = command(capfd, "ledger", "ledger.json", "--drop-pending")
    assert (ended.code, ended.out.splitlines()[-1], ended.out.count("published")) == (0, "dropped: 1", 1)
    assert json.loads(command(capfd, "ledger", "ledger.json", "--json").out)["dropped"] == 0
