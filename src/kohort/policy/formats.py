"""Formats of dates: the directives of strptime that mean the same to everybody who reads a date."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime
from functools import cache

_TOKEN = re.compile(r"%(<[0-9]{4}y|-?.)|([^%]+)|%", re.DOTALL)
_LATEST = re.compile("%<([0-9]{4})y")
_SHORT = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S", "%R": "%H:%M", "%h": "%b"}
"""Directives that stand for others."""
_PADDED = ("d", "m", "j", "H", "I", "M", "S")
"""Numbers that may have a leading zero or none; %-d is %d."""
_KNOWN = ("%Y", *(f"%{letter}" for letter in _PADDED), "%e", "%b", "%B", "%p", "%f", "%z", "%%")
_MONTH_NAMES = """
    january jan januar januari janvier janv janeiro enero ene gennaio gen
    february feb februar februari février fevrier févr fevr fév fev febrero febbraio fevereiro
    march mar märz maerz mär mrz maart mrt mars marzo março marco
    april apr avril avr abril abr aprile
    may mai mei mayo maggio mag maio
    june jun juni juin junio giugno giu junho
    july jul juli juillet juil julio luglio lug julho
    august aug augustus août aout agosto ago
    september sep sept septembre septiembre setiembre settembre set setembro
    october oct oktober okt octobre octubre ottobre ott outubro out
    november nov novembre noviembre novembro
    december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro
"""
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split("\n")[1:-1], 1) for name in names.split()}
"""Names of months, long and short, in English, German, French, Spanish, Italian, Dutch and Portuguese."""
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
"""The same as a regular expression; of two names that begin alike the longer one comes first."""
_MARK = "\x01"
"""Stands on both sides of a month's number where a name was: the name of a month ends the numbers beside it."""
_MONTH = re.compile(MONTH, re.IGNORECASE)
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
    used = Counter("%Y" if _LATEST.fullmatch(token) else token for token in tokens(form) if token.startswith("%"))
    del used["%%"]
    if used["%y"] or used["%D"]:
        return (
            "'format' has a year of two digits, which do not say the century; write %<2029y for %y, "
            "where 2029 is the latest year that they can mean"
        )
    if any(int(latest) < 100 for latest in _LATEST.findall(form)):
        return "'format' must give the latest year of %<y as one of the years 0100 to 9999"
    unknown = [token for token in used if token not in _KNOWN]
    if unknown:
        return f"'format' has {unknown[0]!r}, which kohort does not read; known are {' '.join(_KNOWN)}"
    kinds = {"%d" if token == "%e" else token for token in used} & {"%m", "%b", "%B", "%d", "%j"}
    if used["%Y"] != 1 or kinds not in _DAYS:
        return "'format' must have year, month and day, each of them once: %Y with %m and %d, or with %j"
    if max(used.values()) > 1 or used["%d"] + used["%e"] > 1:
        return "'format' must have every directive once"
    return None


def latest_year(form: str) -> int | None:
    """The latest year that years of two digits can mean in a format; None where they have four.

    Examples
    --------
    >>> latest_year("%d.%m.%<2024y"), dated("31.12.25", "%d.%m.%<2024y")
    (2024, datetime.date(1925, 12, 31))
    """
    found = _LATEST.search(form)
    return None if found is None else int(found[1])


def dated(text: str, form: str) -> date | None:
    """The date that a text says in a format, None where it is of another form.

    Months have names in any of the languages above, whatever the language of the machine.
    """
    plain, is_named = _plain(form)
    if is_named:
        text = _MONTH.sub(lambda name: f"{_MARK}{MONTHS[name[0].lower()]}{_MARK}", text)
    try:
        found = datetime.strptime(text, plain).date()
        latest = latest_year(form)
        return found if latest is None else found.replace(year=latest - (latest - found.year) % 100)
    except ValueError:
        return None


@cache
def _plain(form: str) -> tuple[str, bool]:
    """A format as Python knows it, with months as numbers; and whether they are named."""
    same = {"%e": "%d", "%b": f"{_MARK}%m{_MARK}", "%B": f"{_MARK}%m{_MARK}"}
    parts = tokens(form)
    plain = ("%y" if _LATEST.fullmatch(token) else same.get(token, token) for token in parts)
    return "".join(plain), "%b" in parts or "%B" in parts
