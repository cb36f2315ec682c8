"""Maker and auditor read CSV by two readers: on every file they mean the same, or one of them refuses it."""

from __future__ import annotations

import csv
import io
import os
import random

import duckdb
import pytest

from kohort.audit.read.blocks import records_of
from kohort.audit.read.dialect import sniff as audit_sniff
from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table.csv import read_csv, sniff

FILES = int(os.environ.get("KOHORT_CSV_FILES", "600"))
"""How many files are read; `KOHORT_CSV_FILES=10000 pytest tests/property/test_two_readers.py` for many."""
CELLS = [
    "",
    "20",
    " 20",
    "20 ",
    "a,b",
    'say "x"',
    "two\nlines",
    "\r\n",
    "é",
    "\x01",
    "*",
    "[20 - 29]",
    "'",
    "\u2028",
    "007",
    "\ufeff",
    "x\u0680",
]


def table(rng):
    """A table that is written as it should be: its cells, and its text."""
    width = rng.randrange(1, 5)
    rows = [[rng.choice(CELLS) for _ in range(width)] for _ in range(rng.randrange(1, 6))]
    rows = [[f"name{i}" for i in range(width)], *rows]
    form = {
        "delimiter": rng.choice(",;\t|:"),
        "lineterminator": rng.choice(["\n", "\r\n"]),
        "quoting": rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    }
    text = io.StringIO()
    csv.writer(text, **form).writerows(rows)
    return rows, form["delimiter"], text.getvalue()


def damaged(rng, text):
    """One to three letters more, or less, or other ones."""
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(text) + 1)
        letters = rng.choice(["", "", '"', '""', " ", ",", ";", "\n", "\r", "\r\n", "x", "\0", "\n\n", '" ', ' "'])
        text = text[:place] + letters + text[place + rng.randrange(2) :]
    return text


def by_maker(path, delimiter):
    dialect = sniff(path, Input(delimiter=delimiter))
    return [list(dialect.header), *map(list, read_csv(path, dialect).rows())]


def by_auditor(path, delimiter, *, is_release):
    dialect = audit_sniff(path, "t", delimiters=(delimiter,), is_release=is_release)
    blocks = records_of(path, dialect.form, "t")
    rows = [[text or "" for text in row] for cells in blocks for row in cells.frame.rows()]
    return [list(dialect.header), *rows]


@pytest.fixture(autouse=True)
def one_database(monkeypatch):
    """One database for all files: to start one takes longer than to read a small file."""
    with duckdb.connect() as shared:
        monkeypatch.setattr(duckdb, "connect", lambda: shared.cursor())
        yield


def outcome(action, *arguments, **options):
    try:
        return action(*arguments, **options)
    except DataError:
        return None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_that_are_written_as_they_should_be(tmp_path, encoding):
    rng, path = random.Random(1), tmp_path / "t.csv"
    for _ in range(60):
        rows, delimiter, text = table(rng)
        path.write_bytes(text.encode(encoding))
        assert by_maker(path, delimiter) == rows, repr(text)
        assert by_auditor(path, delimiter, is_release=False) == rows, repr(text)
        if encoding != "utf-16":
            assert by_auditor(path, delimiter, is_release=True) == rows, repr(text)


@pytest.mark.slow
@pytest.mark.promise("3.2")
def test_files_that_are_damaged_mean_the_same_to_both_or_are_refused(tmp_path):
    rng, path = random.Random(2), tmp_path / "t.csv"
    both = 0
    for number in range(FILES):
        _, delimiter, text = table(rng)
        if number % 4:
            text = damaged(rng, text)
        path.write_bytes(text.encode())
        audited = outcome(by_auditor, path, delimiter, is_release=False)
        if audited is None:
            continue
        made = outcome(by_maker, path, delimiter)
        both += made is not None
        assert made is None or made == audited, repr(text)
        released = outcome(by_auditor, path, delimiter, is_release=True)
        assert released is None or released == audited, repr(text)
    assert both > FILES // 4
