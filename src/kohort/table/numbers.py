"""Numbers in the notation of a table, such as ``1.234,5``, as plain ones: ``1234.5``.

The auditor reads them by itself (`kohort.audit.meaning.notation`), and a test compares the two.
"""

from __future__ import annotations

import re
from functools import cache

import polars as pl

from kohort.errors import DataError
from kohort.policy import Policy
from kohort.policy.notation import Notation

_OF_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+$"
"""What may be thousands and may be a number with three decimals."""


def in_points(texts: pl.Series, notation: Notation) -> pl.Series:
    """The texts as plain numbers, null where they are none in this notation.

    Examples
    --------
    >>> in_points(pl.Series(["1.234,5", "12", "1.23", "0.123"]), Notation(",", ".")).to_list()
    ['1234.5', '12', None, None]
    """
    trimmed = texts.str.strip_chars()
    plain = trimmed.set(~trimmed.str.contains(_pattern(notation)), None)
    for mark in notation.between:
        plain = plain.str.replace_all(mark, "", literal=True)
    return plain.str.replace(notation.decimal, ".", literal=True).alias(texts.name)


@cache
def _pattern(notation: Notation) -> str:
    decimal = re.escape(notation.decimal)
    grouped = rf"[1-9][0-9]{{0,2}}(?:[{re.escape(notation.between)}][0-9]{{3}})+|" if notation.thousands else ""
    return rf"^[+-]?(?:(?:{grouped}[0-9]+)(?:{decimal}[0-9]*)?|{decimal}[0-9]+)$"


def plain_numbers(texts: pl.Series, policy: Policy) -> pl.Series:
    """The texts of a column, those that are numbers in its notation as plain ones; missing ones as they are."""
    notation = policy.notation(texts.name)
    if notation is None or texts.dtype != pl.String:
        return texts
    tokens = pl.Series(policy.input.missing, dtype=pl.String)
    plain = in_points(texts, notation)
    return texts.zip_with(plain.is_null() | texts.is_in(tokens.implode()), plain)


def refuse_ambiguous(texts: pl.Series) -> None:
    """Refuse numbers that all have three digits after their points, if nobody says what the points mean."""
    points = texts.filter(texts.str.contains(".", literal=True))
    if len(points) and points.str.contains(_OF_THOUSANDS).all():
        raise DataError(
            f"column {texts.name!r}: every point in it stands before three digits, so its numbers could be thousands "
            'or have three decimals; give its type, with thousands = "." or decimal = ".".'
        )
