"""Formats of dates: read alike by the maker and by the audit, or refused before any work."""

import datetime as dt
import random
import re

import polars as pl
import pytest

import kohort
from kohort.audit.meaning.intervals import day, days_atom
from kohort.errors import PolicyError
from kohort.policy.formats import format_fault, tokens
from kohort.table.dates import read_dates

EPOCH = dt.date(1970, 1, 1)
GERMAN = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
]
SPANISH = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
]
FRENCH = ["janv", "févr", "mars", "avr", "mai", "juin", "juil", "août", "sept", "oct", "nov", "déc"]
WRITTEN = {
    "%e.%m.%Y": lambda d: f"{d.day:2}.{d.month:02}.{d.year}",
    "%m/%e/%Y": lambda d: f"{d.month:02}/{d.day:2}/{d.year}",
    "%-d.%-m.%Y": lambda d: f"{d.day}.{d.month}.{d.year}",
    "%Y-%d-%m": lambda d: f"{d.year}-{d.day:02}-{d.month:02}",
    "%d/%m/%Y": lambda d: f"{d.day:02}/{d.month:02}/{d.year}",
    "%Y%m%d": lambda d: f"{d.year}{d.month:02}{d.day:02}",
    "%d%b%Y": lambda d: f"{d.day}{d:%b}{d.year}",
    "%B %-d, %Y": lambda d: f"{d:%B} {d.day}, {d.year}",
    "%h %e %Y": lambda d: f"{d:%b} {d.day:2} {d.year}",
    "%Y/%j": lambda d: f"{d.year}/{d:%j}",
    "%Y/%-j": lambda d: f"{d.year}/{d.timetuple().tm_yday}",
    "%F %T": lambda d: f"{d} 23:59:59",
    "%d.%m.%Y %H:%M:%S.%f": lambda d: f"{d:%d.%m.%Y} 00:00:00.25",
    "%Y-%m-%dT%H:%M:%S%z": lambda d: f"{d}T00:00:00+02:00",
    "%Y-%m-%d %R%z": lambda d: f"{d} 00:30-0330",
    "%I:%M %p %d/%m/%Y": lambda d: f"12:30 am {d:%d/%m/%Y}",
    "100%% %Y %m %d": lambda d: f"100% {d.year} {d.month} {d.day}",
    "%d. %B %Y": lambda d: f"{d.day}. {GERMAN[d.month - 1]} {d.year}",
    "%d de %B de %Y": lambda d: f"{d.day} de {SPANISH[d.month - 1].upper()} de {d.year}",
    "%d %b %Y": lambda d: f"{d.day} {FRENCH[d.month - 1]} {d.year}",
}


def days(number, seed=1):
    rng = random.Random(seed)
    return [dt.date(1000, 1, 1) + dt.timedelta(rng.randrange(3_000_000)) for _ in range(number)]


@pytest.mark.parametrize("form", WRITTEN)
def test_maker_and_audit_read_the_same_day(form):
    assert format_fault(form) is None
    there = days(200)
    texts = [WRITTEN[form](one).strip() for one in there]
    assert read_dates(pl.Series(texts), form).to_list() == there
    assert [day(text, form) for text in texts] == [(one - EPOCH).days for one in there]


@pytest.mark.parametrize("latest", [1930, 1999, 2024, 2029])
def test_years_of_two_digits_are_the_latest_that_they_can_be(latest):
    rng, form = random.Random(latest), f"%d.%m.%<{latest}y %H:%M"
    first = dt.date(latest - 99, 1, 1)
    there = [first + dt.timedelta(rng.randrange((dt.date(latest, 12, 31) - first).days + 1)) for _ in range(300)]
    texts = [f"{one:%d.%m.%y} 23:59" for one in there]
    assert format_fault(form) is None
    assert read_dates(pl.Series(texts), form).to_list() == there
    assert [day(text, form) for text in texts] == [(one - EPOCH).days for one in there]


def test_what_has_no_year_of_two_digits_is_no_date():
    for text in ("01.02.2024", "1.2.3", "29.02.23", "01.13.20", "01.02.", "29.02.00"):
        assert read_dates(pl.Series([text]), "%d.%m.%<1999y").to_list() == [None]
        assert day(text, "%d.%m.%<1999y") is None


@pytest.mark.parametrize("form", WRITTEN)
def test_a_table_with_the_format_is_verified(tmp_path, form):
    there = sorted(days(6, 2))
    texts = [WRITTEN[form](one) for one in there]
    pl.DataFrame({"born": texts, "n": 1}).write_csv(tmp_path / "in.csv")
    column = {"role": "quasi", "type": "date", "format": form}
    policy = kohort.Policy(
        privacy={"k": 2}, columns={"born": column, "n": "insensitive"}, algorithm={"name": "mondrian"}
    )
    found = kohort.anonymize(tmp_path / "in.csv", policy, output=tmp_path / "out.csv")
    assert found.verdict.passed
    ends = {end for text in found.table["born"] for end in re.findall(r"\d{4}-\d\d-\d\d", text)}
    assert ends <= {one.isoformat() for one in there}


@pytest.mark.parametrize(
    "form",
    [
        "%y-%m-%d",
        "%<99y-%m-%d",
        "%<0042y-%m-%d",
        "%<2024y-%m-%d-%Y",
        "%<2024Y-%m-%d",
        "%D",
        "%-y%m%d",
        "%x",
        "%c",
        "%X",
        "%Y-%m",
        "%m-%d",
        "%H",
        "%Y",
        "%s",
        "%G-%V-%u",
        "%Y-%U-%w",
        "%a,%F",
        "%Y-%m-%d,%d",
        "%d,%e,%m,%Y",
        "%Y,%m,%d,%j",
        "%b,%m,%d,%Y",
        "%F,%H,%H",
        "%F,%Z",
        "%C%m%d",
        "%q",
        "%",
        "no",
        "%E",
        "%Ey",
        "%Od",
        "%_d",
        "%F%",
        "%F%n",
        "%+",
        "%v",
        "%k",
        "%l",
        "%P",
        "%L",
        "%N",
        "%#d",
        "%-Y",
        "%-b",
        "%--d",
    ],
)
def test_any_other_format_is_refused_with_the_policy(form):
    column = {"role": "quasi", "type": "date", "format": form}
    with pytest.raises(PolicyError, match="'format'"):
        kohort.Policy(privacy={"k": 2}, columns={"born": column})


def test_a_published_date_is_iso_whatever_the_format():
    read = days_atom("%Y-%d-%m")
    assert read("2020-03-01").lo == (dt.date(2020, 3, 1) - EPOCH).days
    assert read("2020-13-01") is None
    assert days_atom("%d/%m/%Y")("01/03/2020").lo == (dt.date(2020, 3, 1) - EPOCH).days


def test_a_format_that_misreads_iso_is_not_for_dates_with_a_type():
    table = pl.DataFrame({"born": [dt.date(2020, 3, 1)] * 4, "n": 1})

    def policy(form):
        column = {"role": "quasi", "type": "date", "format": form}
        return kohort.Policy(privacy={"k": 2}, columns={"born": column, "n": "insensitive"})

    assert kohort.anonymize(table, policy("%d.%m.%Y")).verdict.passed
    with pytest.raises(kohort.KohortError, match="'format' is about texts"):
        kohort.anonymize(table, policy("%Y-%d-%m"))


def test_numbers_beside_others_need_all_digits():
    assert read_dates(pl.Series(["1122020", "01022020", "1 22020"]), "%d%m%Y").to_list() == [
        None,
        dt.date(2020, 2, 1),
        None,
    ]


def test_tokens_are_plain():
    assert tokens("%FT%R") == ["%Y", "-", "%m", "-", "%d", "T", "%H", ":", "%M"]
