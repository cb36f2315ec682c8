"""What of a release would not pass HIPAA's Safe Harbor, 45 CFR 164.514(b)(2), by names and forms of columns.

It finds columns that look like one of the eighteen identifiers. That it finds none proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import STAR, Mask, PublishedColumn
from kohort.release.published_loss import Counted, read
from kohort.reports.propose.looks import look_at
from kohort.reports.propose.words import kinds_of, tokens_of
from kohort.reports.published import ISO_DATES, Published

_ZIP = "zip zipcode postcode postal plz postleitzahl cap cep cp"
_PLACES = """
    city town county municipality district street address precinct geocode location neighborhood neighbourhood
    residence village parish borough suburb latitude longitude lat lon lng
    stadt ort wohnort gemeinde landkreis kreis ville commune ciudad municipio comune citta gemeente woonplaats
"""
_AGE = "age ages alter edad idade eta leeftijd"
_OLDEST = 89
_SHOWN_OF_ZIP = 3
_MANY = 0.2


@dataclass(frozen=True)
class Finding:
    """A published column, and why Safe Harbor may not allow it."""

    column: str
    why: str


def findings(published: Published) -> list[Finding]:
    """Everything that was found, in the order of the columns."""
    return [
        Finding(name, why)
        for name in published.table.header
        if name in published.table.columns and name in published.policy.columns
        for why in _faults(published, name)
    ]


def _faults(published: Published, name: str) -> Iterator[str]:
    column = published.policy.columns[name]
    if column.role == "identifier":
        yield "a pseudonym is a code derived from the person's own data"
        return
    words = tokens_of(name)
    kinds = kinds_of(name)
    if "direct" in kinds and column.role != "quasi":
        yield "its name says that it names a person, or how to reach one"
    elif {"number", "person"} <= kinds:
        yield "its name says that it is the number of a person"
    if column.role == "quasi":
        yield from _generalized(published.column(name), published.counts[name], words)
    else:
        yield from _as_it_is(published.typed(name), words)


def _generalized(reader: PublishedColumn, counted: Counted, words: frozenset[str]) -> Iterator[str]:
    texts = counted.texts.drop_nulls()
    if reader.kind == "date" and any(_is_within_a_year(reader, text) for text in texts):
        yield "dates are published more finely than by the year"
    elif _says(words, _ZIP) and any(_is_fine_code(reader, text) for text in texts):
        yield "postal codes show more than three digits"
    elif _says(words, _ZIP) and (texts != STAR).any():
        yield "areas of three digits may be shown where more than 20,000 people live; nobody counted them here"
    elif _says(words, _PLACES) and (texts != STAR).any():
        yield "its name says that it is a place smaller than a state"
    if _says(words, _AGE) and any(_is_old(reader, text) for text in texts):
        yield f"ages above {_OLDEST} are published; make them one category, from 90 on"


def _as_it_is(values: pl.Series, words: frozenset[str]) -> Iterator[str]:
    known = values.drop_nulls()
    if known.dtype.is_temporal() or (known.dtype == pl.String and len(known) and known.str.contains(ISO_DATES).all()):
        yield "dates are published more finely than by the year"
    elif _says(words, _ZIP + _PLACES):
        yield "its name says that it is a place smaller than a state"
    if _says(words, _AGE) and known.dtype.is_numeric() and (known > _OLDEST).any():
        yield f"ages above {_OLDEST} are published; make them one category, from 90 on"
    if known.dtype == pl.String:
        look = look_at(known, ())
        yield from (f"its cells look like {what}" for what, share in look.patterns.items() if share >= _MANY)
        if look.is_prose:
            yield "it is free text, which may hold anything"


def _says(words: frozenset[str], known: str) -> bool:
    return not words.isdisjoint(known.split())


def _is_within_a_year(reader: PublishedColumn, text: str) -> bool:
    """Whether a text says more of a date than years."""
    meaning = read(reader, text)
    if not isinstance(meaning, Interval):
        return False
    ends = pl.Series([float(meaning.lo), float(meaning.hi) + meaning.hi_closed])
    days = ends.filter(ends.is_finite()).cast(pl.Int32).cast(pl.Date)
    return bool(((days.dt.month() != 1) | (days.dt.day() != 1)).any())


def _is_fine_code(reader: PublishedColumn, text: str) -> bool:
    if text == STAR:
        return False
    meaning = read(reader, text)
    shown = meaning.prefix if isinstance(meaning, Mask) else text
    return len(shown.rstrip(STAR)) > _SHOWN_OF_ZIP


def _is_old(reader: PublishedColumn, text: str) -> bool:
    meaning = read(reader, text)
    return isinstance(meaning, Interval) and meaning.hi.is_finite() and float(meaning.hi) > _OLDEST
