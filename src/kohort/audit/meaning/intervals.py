"""Numbers, dates and intervals as people and tools write them.

The styles are those of ARX, sdcMicro, anjana, Amnesia and our own: ``20``, ``[20 - 29]``,
``[20, 25[``, ``(20, 25]``, ``0-4``, ``17~24``, ``17,24``, ``<= 17``, ``65+``, ``2024-Q1``, ``2020s``.
Numbers are exact decimals and dates whole days, so equal texts are equal values however long.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import TypeAlias

from kohort.policy.formats import dated

INFINITY = Decimal("Infinity")
_EPOCH = date(1970, 1, 1).toordinal()
# the exponent is short: beyond it a text is no measurement, and arithmetic with it would be slow
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?", re.ASCII)
_ISO_SHAPE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})|-Q([1-4])|(s))?", re.ASCII)
_COMPARISON = re.compile(r"(<=|>=|<|>|≤|≥)(.+)")
_SEPARATORS = (" - ", "~", ",", "–", "-")


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of numbers, or of days since 1970; an end may be infinite or excluded."""

    lo: Decimal
    hi: Decimal
    lo_closed: bool = True
    hi_closed: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether nothing lies in it: it is upside down, or a point without its end."""
        return self.lo > self.hi or (self.lo == self.hi and not (self.lo_closed and self.hi_closed))

    def covers(self, value: Decimal) -> bool:
        """Whether a value lies in it."""
        return self.meets(value, value)

    def meets(self, low: Decimal, high: Decimal) -> bool:
        """Whether it shares a value with the closed range low to high."""
        above = self.hi > low or (self.hi == low and self.hi_closed)
        below = self.lo < high or (self.lo == high and self.lo_closed)
        return above and below


Atom: TypeAlias = Callable[[str], Interval | None]
"""Reads a text without brackets or separator: one number, or one day or calendar period."""


def number(text: str) -> Decimal | None:
    """Read one number; None where the text is none."""
    text = text.strip()
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def point(text: str) -> Interval | None:
    """Read one number as the interval that holds it alone."""
    value = number(text)
    return None if value is None else Interval(value, value)


def day(text: str, style: str | None = None, *, timed: bool = True) -> Decimal | None:
    """Read one day as days since 1970: ISO, with or without a time, or the given strptime style.

    Parameters
    ----------
    timed : bool
        Whether a time of day may follow; if not, only midnight may, and no zone: elsewhere it is another day.
    """
    text = text.strip()
    if style is not None:
        # what we publish is ISO whatever the style of the input
        found = dated(text, style)
        return day(text, timed=timed) if found is None else _days(found)
    try:
        moment = datetime.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None
    if moment is None or (not timed and (moment.time() != time.min or moment.tzinfo is not None)):
        return None
    return _days(moment.date())


def days_atom(style: str | None = None) -> Atom:
    """Make the reader of a published day, month, quarter, year or decade as an interval of days.

    What is published is ISO. Other tools may write days in the style of the table, unless it looks like ISO; none may
    publish a time of day, which is finer than a day.
    """

    def read(text: str) -> Interval | None:
        value = day(text, timed=False)
        if value is None and style is not None and not _ISO_SHAPE.fullmatch(text.strip()):
            value = day(text, style, timed=False)
        return _period(text.strip()) if value is None else Interval(value, value)

    return read


def interval(text: str, atom: Atom) -> Interval | None:
    """Read a value or an interval in any of the styles; None where the text is neither.

    Examples
    --------
    >>> interval("[20, 25[", point)
    Interval(lo=Decimal('20'), hi=Decimal('25'), lo_closed=True, hi_closed=False)
    >>> interval("about 20", point) is None
    True
    """
    text = text.strip()
    whole = atom(text)
    if whole is not None or len(text) < 2:
        return whole
    if match := _COMPARISON.fullmatch(text):
        return _half_line(match[1], atom(match[2]))
    if text.endswith("+"):
        return _half_line(">=", atom(text[:-1]))
    opening, closing = text[0] in "[](", text[-1] in "[])"
    if opening != closing:
        return None
    if not opening:
        return _between(text, atom)
    return _between(text[1:-1], atom, lo_closed=text[0] == "[", hi_closed=text[-1] == "]")


def _half_line(sign: str, value: Interval | None) -> Interval | None:
    if value is None:
        return None
    match sign:
        case "<=" | "≤":
            return Interval(-INFINITY, value.hi, lo_closed=False)
        case "<":
            return Interval(-INFINITY, value.lo, lo_closed=False, hi_closed=False)
        case ">=" | "≥":
            return Interval(value.lo, INFINITY, hi_closed=False)
    return Interval(value.hi, INFINITY, lo_closed=False, hi_closed=False)


def _between(body: str, atom: Atom, *, lo_closed: bool = True, hi_closed: bool = True) -> Interval | None:
    """Split at the one place where both sides can be read: a minus may be a sign or a separator."""
    for separator in _SEPARATORS:
        start = body.find(separator)
        while start >= 0:
            low, high = atom(body[:start]), atom(body[start + len(separator) :])
            if low is not None and high is not None:
                # ends may be periods themselves: from the first day of one to the last of the other
                return Interval(
                    low.lo if lo_closed else low.hi, high.hi if hi_closed else high.lo, lo_closed, hi_closed
                )
            start = body.find(separator, start + 1)
    return None


def _period(text: str) -> Interval | None:
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    year = last_year = int(match[1])
    first, last = 1, 12
    if match[2]:
        first = last = int(match[2])
    elif match[3]:
        first, last = 3 * int(match[3]) - 2, 3 * int(match[3])
    elif match[4]:
        if year % 10:
            return None
        year, last_year = max(year, 1), year + 9  # the first decade has nine years
    try:
        end = date(last_year, last, monthrange(last_year, last)[1])
        return Interval(_days(date(year, first, 1)), _days(end))
    except ValueError:  # no such month, or the year 0; IllegalMonthError is one, too
        return None


def _days(value: date) -> Decimal:
    return Decimal(value.toordinal() - _EPOCH)
