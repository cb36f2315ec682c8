"""Formats of dates: the directives of strptime that mean the same to everybody who reads a date."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime
from functools import cache

_TOKEN = re.compile(r"%(-?.)|([^%]+)|%", re.DOTALL)
_SHORT = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S", "%R": "%H:%M", "%h": "%b"}
"""Directives that stand for others."""
_PADDED = ("d", "m", "j", "H", "I", "M", "S")
"""Numbers that may have a leading zero or none; %-d is %d."""
_KNOWN = ("%Y", *(f"%{letter}" for letter in _PADDED), "%e", "%b", "%B", "%p", "%f", "%z", "%%")
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MARK = "\x01"
"""Stands on both sides of a month's number where a name was: the name of a month ends the numbers beside it."""
_MONTH = re.compile("|".join(f"{name}|{name[:3]}" for name in MONTHS), re.IGNORECASE)
_DAYS = ({"%m", "%d"}, {"%b", "%d"}, {"%B", "%d"}, {"%j"})
"""What says a day of a year."""


def tokens(form: str) -> list[str]:
    """Split a format into directives and the texts between them, each directive in its plain form.

    Examples
    --------
    >>> tokens("%-d. %h %Y")
    ['%d', '. ', '%b', ' ', '%Y']
    """
    found: list[str] = []
    for match in _TOKEN.finditer(form):
        directive, text = match[1], match[2]
        if directive is None:
            found.append(text or "%")
        elif f"%{directive}" in _SHORT:
            found += tokens(_SHORT[f"%{directive}"])
        else:
            plain = directive[1:] if directive[0] == "-" and directive[1:] in _PADDED else directive
            found.append(f"%{plain}")
    return found


def format_fault(form: str) -> str | None:
    """What is wrong with a format of dates, if anything."""
    used = Counter(token for token in tokens(form) if token.startswith("%") and token != "%%")
    if used["%y"] or used["%D"]:
        return "'format' must have a year of four digits, %Y; two digits do not say the century"
    unknown = [token for token in used if token not in _KNOWN]
    if unknown:
        return f"'format' has {unknown[0]!r}, which kohort does not read; known are {' '.join(_KNOWN)}"
    kinds = {"%d" if token == "%e" else token for token in used} & {"%m", "%b", "%B", "%d", "%j"}
    if used["%Y"] != 1 or kinds not in _DAYS:
        return "'format' must have year, month and day, each of them once: %Y with %m and %d, or with %j"
    if max(used.values()) > 1 or used["%d"] + used["%e"] > 1:
        return "'format' must have every directive once"
    return None


def dated(text: str, form: str) -> date | None:
    """The date that a text says in a format, None where it is of another form.

    Months have English names, whatever the language of the machine.
    """
    plain, is_named = _plain(form)
    if is_named:
        text = _MONTH.sub(lambda name: f"{_MARK}{_number(name[0])}{_MARK}", text)
    try:
        return datetime.strptime(text, plain).date()
    except ValueError:
        return None


@cache
def _plain(form: str) -> tuple[str, bool]:
    """A format as Python knows it, with months as numbers; and whether they are named."""
    same = {"%e": "%d", "%b": f"{_MARK}%m{_MARK}", "%B": f"{_MARK}%m{_MARK}"}
    parts = tokens(form)
    return "".join(same.get(token, token) for token in parts), "%b" in parts or "%B" in parts


def _number(name: str) -> int:
    return 1 + next(place for place, month in enumerate(MONTHS) if month.startswith(name.lower()[:3]))
