"""Numbers of an original in the notation that the policy names, read without a line of the maker's."""

from __future__ import annotations

from kohort.policy.notation import Notation

_DIGITS = frozenset("0123456789")


def plain_number(text: str, notation: Notation) -> str | None:
    """Write a number without marks between thousands and with a decimal point; None where it is no such number.

    Examples
    --------
    >>> german = Notation(",", ".")
    >>> [plain_number(text, german) for text in ("1.234,5", "-12", "1.23", "0.123", "1,2,3")]
    ['1234.5', '-12', None, None, None]
    """
    text = text.strip()
    sign = text[:1] if text[:1] in ("+", "-") else ""
    whole, mark, part = text[len(sign) :].partition(notation.decimal)
    groups = _groups(whole, notation)
    if groups is None or not set(part) <= _DIGITS or not (whole or part):
        return None
    return f"{sign}{''.join(groups)}{'.' if mark else ''}{part}"


def _groups(whole: str, notation: Notation) -> list[str] | None:
    """Split the digits before the decimal mark; None where they are not grouped by three."""
    for mark in notation.between:
        whole = whole.replace(mark, "\n")
    groups = whole.split("\n")
    if any(not set(group) <= _DIGITS for group in groups):
        return None
    if len(groups) == 1:
        return groups
    first, *others = groups
    return groups if 1 <= len(first) <= 3 and first[0] != "0" and all(len(other) == 3 for other in others) else None
