"""Reading many numbers, dates and intervals at once, where they are written plainly.

Plain are ``20``, ``[20 - 29]``, ``2024-01-31`` and ``[2024-01-31 - 2024-02-29]``, as we write them ourselves. Numbers
with at most 15 digits differ as floats where they differ as decimals, and are in the same order; so nothing is lost.
Any other text is left to be read by itself (see `kohort.audit.meaning.intervals`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

DIGITS = 15
"""Decimal digits that a float keeps."""
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
ISO = "%Y-%m-%d"
_FIRST = (date.min - date(1970, 1, 1)).days


@dataclass(frozen=True)
class Ends:
    """Ends of the intervals of some texts, both included; days count from 1970."""

    lo: Floats
    hi: Floats
    """Equal for a text that is one value; unspecified where a text is not plain."""
    plain: Flags
    is_value: Flags
    """Which of them are written as one value."""


def ends(texts: pl.Series, *, are_days: bool) -> Ends:
    """Read the plain ones of some texts.

    Examples
    --------
    >>> import polars as pl
    >>> found = ends(pl.Series(["20", "[20 - 29.5]", "20+"]), are_days=False)
    >>> found.hi.tolist(), found.plain.tolist()
    ([20.0, 29.5, nan], [True, True, False])
    """
    import polars as pl

    one = _DAY if are_days else _NUMBER
    text, read = pl.col("text"), _day if are_days else _number
    # in one statement, as each takes longer than the texts of a small table
    found = (
        texts.alias("text")
        .to_frame()
        .select(
            lo=read(text.str.extract(rf"^(?:\[({one}) - {one}\]|{one})$", 1)),
            hi=read(text.str.extract(rf"^\[{one} - ({one})\]$", 1)),
            value=read(text.str.extract(rf"^({one})$", 1)),
        )
    )
    lo, hi, value = (found[name].to_numpy() for name in ("lo", "hi", "value"))
    is_value = ~np.isnan(value)
    lo, hi = np.where(is_value, value, lo), np.where(is_value, value, hi)
    return Ends(lo, hi, ~(np.isnan(lo) | np.isnan(hi)), is_value)


def exact(value: Decimal) -> float | None:
    """Write a number as a float that stands for it alone; None where there is none."""
    found = float(value)
    return found if not value.is_finite() or decimal(found) == value else None


def decimal(value: float) -> Decimal:
    """Write a float as the number that it stands for."""
    return Decimal(repr(float(value)))


def _number(text: pl.Expr) -> pl.Expr:
    """The number that a short text is, else NaN."""
    import polars as pl

    return pl.when(text.str.len_bytes() <= DIGITS).then(text.cast(pl.Float64, strict=False)).fill_null(float("nan"))


def _day(text: pl.Expr) -> pl.Expr:
    """The day that a text is, counted from 1970, else NaN; there is no year 0."""
    import polars as pl

    found = text.str.to_date(ISO, strict=False).cast(pl.Int32).cast(pl.Float64)
    return pl.when(found >= _FIRST).then(found).fill_null(float("nan"))
