"""The cells of CSV texts: compared with a plain reader, letter by letter, that was written for this test."""

from __future__ import annotations

import random

import polars as pl
import pytest

from kohort.audit.read import blocks, cells
from kohort.audit.read.blocks import Form, records_of
from kohort.audit.read.cells import AFTER, EMPTY, ENDS, NUL, OPEN, QUOTE, WIDTH, Fault, Grammar, split_cells
from kohort.errors import DataError

DELIMITER, MARK = ",", '"'


def plain(text, *, skips, quote=MARK):
    """All records as lists of (cell, whether it has quotes), or where and what the first fault is."""
    records, record, ending, place = [], [], None, 0
    while place < len(text):
        first, cell = place, []
        quoted = bool(quote) and text[place] == quote
        if quoted:
            place += 1
            while True:
                if place == len(text):
                    return OPEN
                if text[place] == quote and text[place + 1 : place + 2] == quote:
                    place += 1
                elif text[place] == quote:
                    break
                cell.append(text[place])
                place += 1
            place += 1
            if "\0" in cell:
                return NUL
        while place < len(text) and text[place] not in ",\r\n":
            if quoted:
                return AFTER
            if text[place] == "\0":
                return NUL
            if text[place] == quote:
                return QUOTE
            cell.append(text[place])
            place += 1
        is_blank = not record and place == first
        record.append(("".join(cell), quoted))
        if text[place : place + 1] == ",":
            is_blank = False
            place += 1
            if place < len(text):
                continue
            record.append(("", False))
        rest = text[place:]
        found = next((end for end in ("\r\n", "\n", "\r") if rest.startswith(end)), None)
        ending = ending or found
        if found is not None and found != ending:
            return ENDS
        place += len(found or "")
        if is_blank:
            if not records or len(records[0]) < 2 or not skips:
                return EMPTY
        elif records and len(record) != len(records[0]):
            return WIDTH
        else:
            records.append(record)
        record = []
    return records


def split(text, *, skips, quote=MARK):
    """The same by the auditor's reader."""
    grammar = Grammar(ord(DELIMITER), ord(quote) if quote else -1, skips, watches=True)
    try:
        found = split_cells(text.encode(), grammar, is_last=True)
    except Fault as fault:
        return fault.sentence
    return list(map(list, found.frame.rows()))


def told(records):
    """What the auditor is to make of records: None for a cell without anything, not even quotes."""
    return [[cell if cell or quoted else None for cell, quoted in record] for record in records]


def random_text(rng, letters):
    return "".join(rng.choice(letters) for _ in range(rng.randrange(1, 14)))


def nearly_valid(rng):
    """Records of equal width, now and then with one letter too much."""
    width, end = rng.randrange(1, 4), rng.choice(["\n", "\n", "\r\n", "\r"])
    cells = [
        "",
        "a",
        '""',
        '"a"',
        '"a""b"',
        '","',
        '"\n"',
        '"\r\n"',
        "é",
        " ",
        '" "',
        "\x01",
        '""""',
        "\ufeff",
        "x\u0680",
    ]
    text = end.join(",".join(rng.choice(cells) for _ in range(width)) for _ in range(rng.randrange(1, 5)))
    text += rng.choice(["", end, end, end + end])
    if rng.random() < 0.3:
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(["\n", "\r", '"', ",", "\0", " ", "é"]) + text[place:]
    return text


@pytest.mark.parametrize("quote", [MARK, ""])
@pytest.mark.parametrize("skips", [True, False])
def test_every_text_is_read_as_by_a_plain_reader_or_refused(skips, quote):
    rng, accepted = random.Random(7), 0
    for number in range(2000):
        text = nearly_valid(rng) if number % 2 else random_text(rng, 'aé,,"" \n\n\r\0')
        expected = plain(text, skips=skips, quote=quote)
        found = split(text, skips=skips, quote=quote)
        if isinstance(expected, list):
            accepted += bool(expected)
            assert found == told(expected), repr(text)
        else:  # of several faults in a line another one may be told
            assert isinstance(found, str), repr(text)
    assert accepted > 300


def test_cells_are_the_same_where_no_reader_helps(monkeypatch):
    rng, texts = random.Random(5), []
    for _ in range(300):
        text = nearly_valid(rng)
        texts.append((text, split(text, skips=True)))
    monkeypatch.setattr(cells, "_cut", lambda *_, **more: None)
    for text, found in texts:
        assert split(text, skips=True) == found, repr(text)


LONG = 'a,"b,c",""\n,"d""e",f\n'


def test_a_plain_text_is_cut_by_the_fast_reader(monkeypatch):
    monkeypatch.setattr(cells._Found, "by_hand", lambda *_: pytest.fail("the slow way"))
    for end in ("\n", "\r\n"):
        assert split(LONG.replace("\n", end), skips=True) == [["a", "b,c", ""], [None, 'd"e', "f"]]


def test_lines_that_end_inside_of_quotes_are_cut_by_the_fast_reader(monkeypatch):
    monkeypatch.setattr(cells._Found, "by_hand", lambda *_: pytest.fail("the slow way"))
    text = 'a,"b\r\n""c\n",\x01\r\n"\r\n",,"\n,\r"\r\n'
    expected = [["a", 'b\r\n"c\n', "\x01"], ["\r\n", None, "\n,\r"]]
    assert split(text, skips=True) == expected
    assert split(text.replace("\r\n", "\n"), skips=True) == [
        ["a", 'b\n"c\n', "\x01"],
        ["\n", None, "\n,\r"],
    ]


def test_cells_with_every_control_character_are_cut(monkeypatch):
    every = "".join(map(chr, range(1, 32))).replace("\t", "").replace("\n", "").replace("\r", "")
    for left in ("", "\x05", "\x05\x1f"):
        held = every if not left else every.translate(dict.fromkeys(map(ord, left)))
        assert split(f'{held},"x\ny\r"\n', skips=True) == [[held, "x\ny\r"]]


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame[:-1],
        lambda frame: frame[:, :-1],
        lambda frame: frame.fill_null(""),
        lambda frame: frame.select(pl.all().str.strip_chars("b")),
        lambda frame: frame.with_columns(pl.all().str.replace('"', '""')),
    ],
)
def test_a_reader_that_does_not_find_what_is_there_is_not_believed(monkeypatch, change):
    read = pl.read_csv
    monkeypatch.setattr(pl, "read_csv", lambda *given, **more: change(read(*given, **more)))
    assert split(LONG, skips=True) == [["a", "b,c", ""], [None, 'd"e', "f"]]


@pytest.mark.slow
def test_a_file_is_the_same_in_blocks_of_any_size(tmp_path, monkeypatch):
    rng, path = random.Random(3), tmp_path / "t.csv"
    form = Form("utf-8-sig", packing="none", delimiter=DELIMITER, quote=MARK, skips=True)
    refused = 0
    for _ in range(400):
        text = nearly_valid(rng)
        path.write_bytes(text.encode())
        outcomes = []
        for size in (1, 2, 5, 1 << 20):
            monkeypatch.setattr(blocks, "BLOCK", size)
            try:
                outcomes.append(
                    [cell for some in records_of(path, form, "t") for row in some.frame.rows() for cell in row]
                )
            except DataError as fault:
                # a line that ends in one way and goes on in another may be counted as two
                outcomes.append("refused" if "\r" in text else str(fault))
                refused += 1
        assert outcomes == outcomes[:1] * 4, repr(text)
    assert refused > 100


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('1,"20" ', AFTER),
        ('1, "20"', QUOTE),
        ('1,"20"x', AFTER),
        ('1,2"0', QUOTE),
        ("1,20,", WIDTH),
        ("1", WIDTH),
        ("1,2\r", ENDS),
        ("1,2\r3", ENDS),
        ("1,\0", NUL),
        ('1,"20', OPEN),
        ("", EMPTY),
    ],
)
def test_what_readers_do_not_agree_on_is_refused_with_its_line(tmp_path, line, fault):
    path = tmp_path / "t.csv"
    path.write_bytes(f'a,b\n"x\ny",1\n{line}\n7,8\n'.encode())
    form = Form("utf-8-sig", packing="none", delimiter=DELIMITER, quote=MARK)
    with pytest.raises(DataError) as caught:
        list(records_of(path, form, "t"))
    assert str(caught.value) == f"t: line 4 {fault}"


def test_needless_quotes_are_seen():
    grammar = Grammar(ord(","), ord('"'), watches=True)
    found = split_cells(b'a,"b","c,d","e""f","",\r\n1,2,"\r",4,5,"6"\r\n', grammar, is_last=True)
    assert found.quoted.tolist() == [[False, True, False, False, True, False], [*[False] * 5, True]]
