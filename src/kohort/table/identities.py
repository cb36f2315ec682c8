"""Who or what an identifier names: equal persons get equal texts, whatever kind of table they are in."""

from __future__ import annotations

import polars as pl

from kohort.errors import DataError
from kohort.policy import Policy
from kohort.table.spelling import NUMBER, PLAIN, SHORTEST, absent, identity
from kohort.table.types import with_nulls
from kohort.table.words import counted, in_words

EXACT = 2**53
"""Whole numbers up to here are exact in a column of floating-point numbers."""


def identities(series: pl.Series, policy: Policy) -> pl.Series:
    """One text for each identifier, null where it is missing.

    Numbers are written in as few digits as they need: 7, 7.0, "7", "+7" and " 7.0 " are all `7`, and "007" is another
    identifier. Dates are ISO. Other texts are brought into the one form of `kohort.table.spelling`. A text of blanks
    alone is missing, and so is another spelling of a text that the policy calls missing.

    Raises
    ------
    DataError
        When a column holds what has no one text: fractions, times.

    Examples
    --------
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], identifiers=["id"])
    >>> identities(pl.Series("id", ["7", "7.0", "007", " Ann "]), policy).to_list()
    ['7', '7', '007', 'Ann']
    >>> identities(pl.Series("id", [7.0, None]), policy).to_list()
    ['7', None]
    """
    series = with_nulls(series, policy)
    dtype = series.dtype
    if dtype == pl.Null or dtype == pl.Boolean or dtype.is_integer():
        return series.cast(pl.String)
    if dtype == pl.Date:
        return series.dt.strftime("%Y-%m-%d")
    if dtype.is_float() or dtype.is_decimal():
        strange = (series != series.floor()) | (series.abs() > EXACT)
        if strange.any():
            number = counted(int(strange.sum()), "value is no whole number", "values are not whole numbers")
            row = int(strange.arg_true()[0]) + 1
            raise DataError(
                f"column {series.name!r}: {number} of at most 2^53 (first in row {row}), so who is meant cannot be "
                "compared exactly; give identifiers as texts or whole numbers."
            )
        return series.cast(pl.Int64).cast(pl.String)
    if dtype != pl.String:
        raise DataError(
            f"column {series.name!r}: {in_words(dtype)} cannot identify people; give identifiers as texts or whole "
            "numbers."
        )
    nobody = absent(policy, identity)
    texts = series.drop_nulls().unique()
    odd = texts.filter(
        ~texts.str.contains(PLAIN)
        | (texts.str.contains(NUMBER) & ~texts.str.contains(SHORTEST))
        | texts.is_in(pl.Series(sorted(nobody), dtype=pl.String).implode())
    )
    if not len(odd):
        return series
    forms = [None if form in nobody else form for form in map(identity, odd)]
    return series.replace(odd, pl.Series(forms, dtype=pl.String))
