"""Reading many texts at once gives what reading them one by one does."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.audit.checks.coverage import Line
from kohort.audit.meaning.bulk import ends, exact
from kohort.audit.meaning.intervals import days_atom, interval, point
from kohort.audit.meaning.published import published_column
from kohort.audit.read import texts as texts_module
from kohort.audit.read.texts import Texts
from kohort.policy import Policy

numbers = st.sampled_from(
    ["0", "-0", "00", "7", "-7", "7.50", "0.1", "0.10000000000000001", "123456789012345", "1234567890123456", "1e3"]
) | st.decimals(-20, 20, places=2).map(str)
days = st.sampled_from(["2024-02-29", "2023-02-29", "0000-01-01", "1969-12-31", "2024-13-01"]) | st.dates().map(str)
odd = st.sampled_from(
    ["", "*", "[1 - ]", "[]", "20+", "<= 3", " 5", "5 ", "+5", "1,5", "nan", "inf", "５", "[1 - 2[", None]
)


def written(one):
    """One value, or an interval as we write it, upside down at times."""
    return st.one_of(one, st.tuples(one, one).map(lambda pair: f"[{pair[0]} - {pair[1]}]"), odd)


@pytest.mark.parametrize(("one", "atom", "are_days"), [(numbers, point, False), (days, days_atom(), True)])
def test_plain_texts_are_read_as_one_by_one(one, atom, are_days):
    @given(st.lists(written(one), max_size=8))
    def check(given):
        found = ends(pl.Series(given, dtype=pl.String), are_days=are_days)
        for text, lo, hi, plain, is_value in zip(given, found.lo, found.hi, found.plain, found.is_value, strict=True):
            if plain:
                wanted = interval(text, atom)
                assert (exact(wanted.lo), exact(wanted.hi)) == (lo, hi)
                assert (wanted.lo_closed, wanted.hi_closed) == (True, True)
                assert is_value == (not text.startswith("["))

    check()


def test_what_we_write_is_plain():
    assert ends(pl.Series(["3", "[-3 - 4.25]"]), are_days=False).plain.all()
    assert ends(pl.Series(["2024-02-29", "[2024-02-29 - 2024-03-01]"]), are_days=True).plain.all()


def test_floats_that_stand_for_more_than_one_number_are_not_used():
    assert exact(Decimal("0.1")) == 0.1
    assert exact(Decimal("0.10000000000000001")) is None
    assert exact(Decimal("1E-400")) is None
    assert exact(Decimal("-Infinity")) == -np.inf


@given(st.lists(numbers | st.none(), max_size=6), st.lists(written(numbers), max_size=6), st.booleans())
def test_a_text_covers_the_values_in_its_interval(originals, published, missing_is_any):
    column = published_column("x", Policy(privacy={"k": 2}, columns={"x": {"role": "quasi", "type": "number"}}), ())
    line = Line(column, Texts.of(originals))
    first, last = line.stretches(Texts.of(published), missing_is_any=missing_is_any)
    for text, low, high in zip(published, first, last, strict=True):
        meaning = None if text is None else interval(text, point)
        for original, place in zip(originals, line.places, strict=True):
            if text == "*" or (text is None and missing_is_any):
                covers = True
            elif text is None or original is None:
                covers = text is original
            else:
                covers = meaning is not None and meaning.covers(Decimal(original))
            assert (low <= place <= high) == covers


def test_texts_come_in_pieces(monkeypatch):
    monkeypatch.setattr(texts_module, "TEXTS", 2)
    some = Texts.of(["a", None, "c", "d", "e"])
    assert [(where.start, list(batch)) for where, batch in some.batches()] == [
        (0, ["a", None]),
        (2, ["c", "d"]),
        (4, ["e"]),
    ]
    assert list(some) == ["a", None, "c", "d", "e"]
    assert len(some) == 5
