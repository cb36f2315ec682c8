"""Requests to commands about releases that cannot be met: each ends in sentences, and nothing is written."""

from contextlib import chdir

import pytest

from faults.harness import (
    DATA,
    JARGON,
    POLICY,
    assert_nothing_told,
    changed,
    command,
    contents,
    place,
    plain_faults,
)
from kohort.errors import KohortError

COMMANDS = {
    "codebook": "codebook {} -o book.csv",
    "risk": "risk {}",
    "attack": "attack {} --attempts 5",
    "report": "report {} -o report.html",
    "certificate": "certificate make {} -o cert.json",
    "measure": "measure {}",
}
FAULTS = {
    "nothing there": ("none.csv -p policy.toml", "none.csv"),
    "a folder of something else": ("folder -p policy.toml", ""),
    "no policy file": ("people.csv -p none.toml", "none.toml"),
    "no verdict": ("people.csv", ""),
    "empty": ("empty.csv -p policy.toml", "empty"),
    "header alone": ("header.csv -p policy.toml", "no rows"),
    "no Parquet": ("broken.parquet -p policy.toml", ""),
    "other columns": ("other.csv -p policy.toml", ""),
    "a broken policy": ("people.csv -p broken.toml", "broken.toml, line"),
    "a policy of patterns that tie": ("people.csv -p tie.toml", "fit it equally well"),
    "a policy that publishes everything": ("people.csv -p star.toml", "fits every column"),
    "a directory of nothing": ("people.csv -p folder", "folder"),
}
HEADER = DATA.splitlines()[0]
FILES = {
    "people.csv": DATA,
    "policy.toml": POLICY,
    "empty.csv": "",
    "header.csv": HEADER + "\n",
    "broken.parquet": b"PAR1 and no more",
    "other.csv": "colour,size\nred,1\nred,1\n",
    "broken.toml": POLICY.replace("k = ", "k == "),
    "tie.toml": changed("[columns.age]", '[columns."a*e"]') + '[columns."ag*"]\nrole = "sensitive"\n',
    "star.toml": POLICY + '[columns."*"]\nrole = "insensitive"\n',
    "folder/unread.txt": "nothing",
}


NO_FAULT = {("certificate", "other columns")}
"""Such a file does not keep the promise, which is no bad input."""


@pytest.mark.parametrize(
    ("asked", "fault"), [(one, fault) for one in COMMANDS for fault in FAULTS if (one, fault) not in NO_FAULT]
)
def test_a_command_about_a_release_refuses_in_sentences(asked, fault, tmp_path, capfd):
    target, says = FAULTS[fault]
    refused(COMMANDS[asked].format(target), says, tmp_path, capfd)


ASKED = {
    "init: no such encoding": ("init people.csv -o p.toml --encoding klingon", "must be an encoding"),
    "init: a delimiter of two": ("init people.csv -o p.toml --delimiter ;;", "at most 1 character"),
    "init: more lines than there are": ("init people.csv -o p.toml --skip-rows 9000", "people.csv"),
    "init: the policy is the table": ("init people.csv -o people.csv", "people.csv"),
    "codebook: another kind of file": ("codebook people.csv -p policy.toml -o book.pdf", "name it .csv or .json"),
    "codebook: over the release": ("codebook people.csv -p policy.toml -o people.csv", "people.csv"),
    "codebook: over something": ("codebook people.csv -p policy.toml -o other.csv", "already there"),
    "codebook: in no folder": ("codebook people.csv -p policy.toml -o none/book.csv", "none"),
    "row order: over the table": ("anonymize people.csv -p policy.toml -o o.csv --row-order people.csv", "people.csv"),
    "row order: over something": ("anonymize people.csv -p policy.toml -o o.csv --row-order other.csv", "already"),
    "row order: on disk": ("anonymize people.csv -p policy.toml -o o.csv --row-order r.txt --memory 1GB", "row-order"),
    "row order: in no folder": ("anonymize people.csv -p policy.toml -o o.csv --row-order none/r.txt", "none"),
    "verify: an order of no numbers": (
        "verify people.csv -p policy.toml --original people.csv --row-order other.csv",
        "row_order",
    ),
    "verify: an order without the original": ("verify people.csv -p policy.toml --row-order other.csv", "original"),
    "patterns: no column": ("anonymize people.csv -p nocolumn.toml -o o.csv", "'zz*' is not in the table"),
    "patterns: a tie": ("anonymize people.csv -p tie.toml -o o.csv", "fit it equally well"),
    "patterns: with limited memory": ("anonymize people.csv -p tie.toml -o o.csv --memory 1GB", "fit it equally well"),
    "patterns: in a comparison": ("compare people.csv -p tie.toml", "fit it equally well"),
    "patterns: before the work": ("why people.csv -p tie.toml", "fit it equally well"),
    "patterns: verified": ("verify people.csv -p tie.toml", "fit it equally well"),
    "patterns: for ARX": ("arx export people.csv -p tie.toml -o folder2", "fit it equally well"),
}


@pytest.mark.parametrize(("asked", "says"), ASKED.values(), ids=ASKED)
def test_a_newer_option_refuses_in_sentences(asked, says, tmp_path, capfd):
    refused(asked, says, tmp_path, capfd, {"nocolumn.toml": POLICY + '[columns."zz*"]\nrole = "quasi"\n'})


def refused(asked, says, folder, capfd, more=None):
    place(folder, FILES | (more or {}))
    before = contents(folder)
    with chdir(folder):
        ended = command(capfd, *asked.split())
    assert ended.code == 2, ended
    assert contents(folder) == before
    assert_nothing_told(ended)
    said = plain_faults(ended)
    assert any(says in sentence for sentence in said), said
    for sentence in said:
        assert sentence.endswith(".")
        assert not JARGON.search(sentence), sentence


def test_every_class_of_errors_has_its_place_in_the_page_about_errors():
    from pathlib import Path

    import kohort.errors

    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
    headings = {line.removeprefix("## ").strip() for line in page.splitlines() if line.startswith("## ")}
    classes = [one for one in vars(kohort.errors).values() if isinstance(one, type) and issubclass(one, KohortError)]
    assert len(classes) > 5
    assert {one.anchor for one in classes} <= headings
