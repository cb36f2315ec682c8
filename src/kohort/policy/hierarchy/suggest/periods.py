"""Months, quarters and weeks under their years, and these under their decades."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kohort.policy.formats import MONTH, MONTHS
from kohort.policy.hierarchy.suggest.groups import Branch, Node

_YEAR = r"(?P<year>(?:18|19|20)[0-9]{2})"
_STEP = r"(?:q|t|s|h|w|kw|cw|wk|week|quarter|trim|sem)?[. -]?(?P<step>[0-5]?[0-9])"
_PERIODS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{_YEAR}[-/. ]?{_STEP}$",
        rf"^{_STEP}[-/. ]{_YEAR}$",
        rf"^(?P<month>{MONTH})[-/., ]{{0,2}}{_YEAR}$",
        rf"^{_YEAR}[-/. ]?(?P<month>{MONTH})$",
    )
)
_MANY_YEARS = 6
"""More years than these stand under decades."""


def period_of(text: str) -> tuple[int, int] | None:
    """The year and the step in it that a text says; None for other texts.

    Examples
    --------
    >>> [period_of(text) for text in ("03/2019", "2019-Q1", "März 2019", "KW 12 2019", "2019", "31.12.2019")]
    [(2019, 3), (2019, 1), (2019, 3), (2019, 12), None, None]
    """
    match = next((found for pattern in _PERIODS if (found := pattern.match(text.strip()))), None)
    if match is None:
        return None
    parts = match.groupdict()
    step = MONTHS[parts["month"].lower()] if parts.get("month") else int(parts["step"])
    return (int(parts["year"]), step) if 1 <= step <= 53 else None


def by_period(texts: Sequence[str]) -> tuple[list[Node], str] | None:
    """Texts that are all months, quarters or weeks, in their order; None if one is not, or all are of one year."""
    found = {text: period_of(text) for text in texts}
    periods = sorted((period, text) for text, period in found.items() if period is not None)
    if len(periods) < len(texts) or not periods:
        return None
    years: dict[int, dict[int, list[Node]]] = {}
    for (year, step), text in periods:
        years.setdefault(year, {}).setdefault((step - 1) // 3, []).append(text)
    if len(years) < 2:
        return None
    are_months = 4 < max(step for (_, step), _ in periods) <= 12
    named: dict[int, Node] = {}
    for year, quarters in years.items():
        labelled = [(f"{year}, quarter {quarter + 1}", some) for quarter, some in quarters.items()]
        inner = [_one(*each) for each in labelled] if are_months else [text for _, some in labelled for text in some]
        named[year] = _one(str(year), inner)
    reason = "parts of years, under their years"
    if len(years) <= _MANY_YEARS:
        return list(named.values()), reason
    decades: dict[int, list[Node]] = {}
    for year, node in named.items():
        decades.setdefault(year // 10 * 10, []).append(node)
    return [_one(f"{first} - {first + 9}", some) for first, some in decades.items()], f"{reason} and decades"


def _one(label: str, some: Sequence[Node]) -> Node:
    """A group with a name, or its only child."""
    return some[0] if len(some) == 1 else Branch(label, some)
