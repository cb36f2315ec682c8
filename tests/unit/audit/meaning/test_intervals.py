from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.audit.meaning.intervals import Interval, day, days_atom, interval, number, point

INF = Decimal("Infinity")


def ends(text):
    found = interval(text, point)
    return found and (float(found.lo), float(found.hi), found.lo_closed, found.hi_closed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20", (20, 20, True, True)),
        (" 20 ", (20, 20, True, True)),
        ("-5", (-5, -5, True, True)),
        ("+5", (5, 5, True, True)),
        ("2.50", (2.5, 2.5, True, True)),
        (".5", (0.5, 0.5, True, True)),
        ("1e3", (1000, 1000, True, True)),
        ("1E-5", (1e-5, 1e-5, True, True)),
        ("[20 - 29]", (20, 29, True, True)),
        ("[-5 - -1]", (-5, -1, True, True)),
        ("[-5 - 5]", (-5, 5, True, True)),
        ("[20, 25[", (20, 25, True, False)),
        ("[20, 25)", (20, 25, True, False)),
        ("[20,25]", (20, 25, True, True)),
        ("]20, 25]", (20, 25, False, True)),
        ("(20, 25]", (20, 25, False, True)),
        ("(20, 25)", (20, 25, False, False)),
        ("[0.5, 1.5[", (0.5, 1.5, True, False)),
        ("0-4", (0, 4, True, True)),
        ("20-39", (20, 39, True, True)),
        ("-5--1", (-5, -1, True, True)),
        ("-5-1", (-5, 1, True, True)),
        ("1e-5-2e-3", (1e-5, 2e-3, True, True)),
        ("20–29", (20, 29, True, True)),
        ("17,24", (17, 24, True, True)),
        ("17~24", (17, 24, True, True)),
        ("[5 - 10]", (5, 10, True, True)),
        ("<= 17", (-INF, 17, False, True)),
        ("< 18", (-INF, 18, False, False)),
        (">= 65", (65, INF, True, False)),
        ("> 65", (65, INF, False, False)),
        (">=65", (65, INF, True, False)),
        ("≤ 17", (-INF, 17, False, True)),
        ("≥ 65", (65, INF, True, False)),
        ("85+", (85, INF, True, False)),
        # what is no interval
        ("", None),
        ("*", None),
        ("abc", None),
        ("20-", None),
        ("[20 - 29", None),
        ("20 - 29]", None),
        ("{20, 21, 22}", None),
        ("10-20-30", None),
        ("nan", None),
        ("inf", None),
        ("1_000", None),
        ("٢٠", None),
        ("1e99999", None),
        ("<= x", None),
        ("[", None),
        ("[]", None),
    ],
)
def test_numbers(text, expected):
    assert ends(text) == (expected and tuple(map(float, expected[:2])) + expected[2:])


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024-02-29", "2024-02-29", "2024-02-29"),
        ("2024-02-29 00:00:00", "2024-02-29", "2024-02-29"),
        ("2024-02-29T00:00:00.000000", "2024-02-29", "2024-02-29"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2024-Q1", "2024-01-01", "2024-03-31"),
        ("2024-Q4", "2024-10-01", "2024-12-31"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("2020s", "2020-01-01", "2029-12-31"),
        ("9999", "9999-01-01", "9999-12-31"),
        ("[2024-01-01 - 2024-03-31]", "2024-01-01", "2024-03-31"),
        ("2024-01-01 - 2024-03-31", "2024-01-01", "2024-03-31"),
        ("2024-01-01~2024-03-31", "2024-01-01", "2024-03-31"),
        ("[2024-01 - 2024-03]", "2024-01-01", "2024-03-31"),
        ("2019-2021", "2019-01-01", "2021-12-31"),
    ],
)
def test_dates(text, first, last):
    found = interval(text, days_atom())
    assert found == Interval(day(first), day(last))


@pytest.mark.parametrize(
    "text",
    [
        "2024-13",
        "2024-02-30",
        "2024-Q5",
        "2021s",
        "0000",
        "20240101",
        "24-01-01",
        "x",
        "9990s+x",
        "2024-02-29T12:30:00.000000",
    ],
)
def test_no_dates(text):
    assert interval(text, days_atom()) is None


def test_open_ends_of_periods_leave_out_the_whole_period():
    assert interval("[2024, 2025[", days_atom()) == Interval(day("2024-01-01"), day("2025-01-01"), True, False)
    assert interval("]2023, 2024]", days_atom()) == Interval(day("2023-12-31"), day("2024-12-31"), False, True)


def test_a_style_of_the_policy_is_read_beside_iso():
    assert day("31/12/2024", "%d/%m/%Y") == day("2024-12-31") == day("2024-12-31", "%d/%m/%Y")
    assert day("1970-01-02") == 1


@pytest.mark.parametrize(
    ("text", "empty"),
    [("[29 - 20]", True), ("[20, 20[", True), ("]20, 20]", True), ("[20 - 20]", False), ("2024-03", True)],
)
def test_upside_down(text, empty):
    assert interval(text, point).is_empty == empty


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("20", False), ("21", True), ("29", True), ("30", False), ("[1 - 20]", False), ("[1 - 21]", True),
        ("[1, 21[", False), ("]29, 40]", False), (">= 29", True), ("> 29", False), ("<= 21", True),
        ("< 21", False),
    ],
)  # fmt: skip
def test_meeting_a_range(text, inside):
    assert interval(text, point).meets(Decimal(21), Decimal(29)) == inside


def test_numbers_are_exact():
    assert number("0.1") == number("0.10") == number("1e-1")
    assert number("9007199254740993") != number("9007199254740992")


decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=3)


@given(decimals, decimals, st.sampled_from(["[{} - {}]", "[{}, {}]", "{}~{}", "{}-{}", "{},{}", "{} - {}"]))
def test_round_trip_of_numbers(a, b, style):
    low, high = sorted((a, b))
    found = interval(style.format(low, high), point)
    assert found == Interval(low, high)


@given(st.integers(), st.integers())
def test_round_trip_of_long_integers(a, b):
    low, high = sorted((a, b))
    assert interval(f"[{low} - {high}]", point) == Interval(Decimal(low), Decimal(high))


@given(st.dates(), st.integers(0, 400), st.sampled_from(["[{} - {}]", "[{}, {}]", "{}~{}", "{} - {}"]))
def test_round_trip_of_dates(first, days, style):
    last = min(date.max - timedelta(days), first) + timedelta(days)
    found = interval(style.format(first, last), days_atom())
    assert found == Interval(*(Decimal(d.toordinal() - date(1970, 1, 1).toordinal()) for d in (first, last)))


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused_without_a_crash(text):
    interval(text, point)
    interval(text, days_atom("%d.%m.%Y"))
