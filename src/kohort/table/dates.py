"""Texts as dates, by a format of the policy."""

from __future__ import annotations

import re

import polars as pl

from kohort.policy.formats import MONTH, MONTHS, latest_year, tokens

ISO_DATE = "%Y-%m-%d"
ISO_SHAPE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_FIELDS = {
    "%Y": "(?P<year>[0-9]{4})",
    "%y": "(?P<year>[0-9]{2})",
    "%m": "(?P<month>[0-9]{1,2})",
    "%d": "(?P<day>[0-9]{1,2})",
    "%e": "(?P<day> ?[0-9]{1,2})",
    "%j": "(?P<place>[0-9]{1,3})",
    "%b": f"(?P<month>{MONTH})",
    "%B": f"(?P<month>{MONTH})",
    "%H": "(?:[01]?[0-9]|2[0-3])",
    "%I": "(?:0?[1-9]|1[0-2])",
    "%M": "[0-5]?[0-9]",
    "%S": "[0-5]?[0-9]",
    "%p": "[ap]m",
    "%f": "[0-9]{1,6}",
    "%z": "(?:[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]|z)",
    "%%": "%",
}
_FIXED = {
    "%m": "(?P<month>[0-9]{2})",
    "%d": "(?P<day>[0-9]{2})",
    "%e": "(?P<day>[ 0-9][0-9])",
    "%j": "(?P<place>[0-9]{3})",
    "%H": "(?:[01][0-9]|2[0-3])",
    "%I": "(?:0[1-9]|1[0-2])",
    "%M": "[0-5][0-9]",
    "%S": "[0-5][0-9]",
    "%f": "[0-9]{6}",
}
"""Numbers right before or after others, which have all their digits: else it would be open where one ends."""


def read_dates(texts: pl.Series, form: str) -> pl.Series:
    """The texts as dates, null where one has not the form; a time of day must be one, and is left out.

    A date is the date as it is written, whatever the offset from UTC that may stand behind it.
    """
    if form == ISO_DATE:
        return texts.set(~texts.str.contains(ISO_SHAPE), None).str.to_date(ISO_DATE, strict=False)
    found = texts.alias("text").to_frame().select(pl.col("text").str.extract_groups(_pattern(form))).unnest("text")
    if (latest := latest_year(form)) is not None:
        two = pl.col("year").cast(pl.Int32)
        found = found.with_columns((latest - (latest - two) % 100).cast(pl.String).str.zfill(4).alias("year"))
    if "place" in found.columns:
        first = pl.format("{}-01-01", "year").str.to_date(ISO_DATE, strict=False)
        day = first + pl.duration(days=pl.col("place").cast(pl.Int64) - 1)
        return found.select(pl.when(day.dt.year() == first.dt.year()).then(day).alias(texts.name)).to_series()
    month = pl.col("month").str.to_lowercase().replace({name: str(number) for name, number in MONTHS.items()})
    day = pl.col("day").str.strip_chars().str.zfill(2)
    written = pl.format("{}-{}-{}", "year", month.str.zfill(2), day)
    return found.select(written.str.to_date(ISO_DATE, strict=False).alias(texts.name)).to_series()


def _pattern(form: str) -> str:
    """A regular expression for texts of a form."""
    parts = ["%y" if token.startswith("%<") else token for token in tokens(form)]
    numbers = {"%Y", "%y", *_FIXED}
    pieces = []
    for before, token, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        beside = before in numbers or after in numbers or before[-1:].isdigit() or after[:1].isdigit()
        pieces.append(_FIXED[token] if token in _FIXED and beside else _FIELDS.get(token, re.escape(token)))
    return f"(?i)^{''.join(pieces)}$"
