"""How a column of texts writes its numbers, and what stands for missing ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from kohort.policy.notation import Notation
from kohort.table.numbers import in_points

PLAIN = Notation(".", None)
_BETWEEN = (None, ".", ",", " ", "'", "_")
_KNOWN = (PLAIN, *(Notation(d, t) for d in ",." for t in _BETWEEN if t != d and (d, t) != PLAIN))
_LIKE_NUMBERS = r"^[+-]?[0-9.,][0-9.,'’_ \u00a0\u2009\u202f]*$"
_MARKS = r"[.,'’_ \u00a0\u2009\u202f]"
_SENTINELS = (
    "-1", "-7", "-8", "-9", "-77", "-88", "-97", "-98", "-99", "-777", "-888", "-997", "-998", "-999", "-9999",
    "77", "88", "97", "98", "99", "777", "888", "997", "998", "999", "7777", "8888", "9997", "9998", "9999", "99999",
)  # fmt: skip


@dataclass(frozen=True)
class Marks:
    """How numbers are written: the notations that fit every text and read them alike."""

    notation: Notation | None
    """None if different notations read different numbers."""
    evidence: str
    readings: tuple[Notation, ...] = ()
    """Of those that read different numbers, one each."""


def marks_of(values: pl.Series) -> Marks | None:
    """How the texts of a column write numbers; None for what is no column of numbers with marks.

    Examples
    --------
    >>> marks_of(pl.Series(["12,5", "1.200"])).notation
    Notation(decimal=',', thousands='.')
    >>> [reading.thousands for reading in marks_of(pl.Series(["86.320", "1.200"])).readings]
    [None, '.']
    """
    texts = values.unique(maintain_order=True).str.strip_chars()
    if not len(texts) or not texts.str.contains(_LIKE_NUMBERS).all() or not texts.str.contains(_MARKS).any():
        return None
    found: dict[tuple[str | None, ...], Notation] = {}
    for notation in _KNOWN:
        plain = in_points(texts, notation)
        if not plain.null_count():
            found.setdefault(tuple(plain.cast(pl.Float64).to_list()), notation)
    if not found:
        return None
    readings = tuple(found.values())
    marked = int(texts.str.contains(_MARKS).sum())
    if len(readings) > 1:
        return Marks(None, f"{marked:,} values have a mark before three digits", readings)
    return Marks(readings[0], f"{marked:,} values have marks, and all fit")


def resolved(marks: Marks, decimals: set[str]) -> Notation | None:
    """The reading that has the decimal mark of the other columns, if that is one and the same for all."""
    fitting = [notation for notation in marks.readings if {notation.decimal} == decimals]
    return fitting[0] if len(fitting) == 1 else None


def sentinels(numbers: Mapping[str, pl.Series], columns: Mapping[str, pl.Series]) -> list[str]:
    """Numbers that stand for missing values: far from all others of their columns, and in no other column.

    Parameters
    ----------
    numbers : mapping
        Columns of texts that are numbers, with these numbers.
    columns : mapping
        All columns of texts.
    """
    odd: dict[str, set[str]] = {}
    for name, found in numbers.items():
        known = found.filter(~columns[name].str.strip_chars().is_in(pl.Series(_SENTINELS).implode())).drop_nulls()
        if not len(known):
            continue
        low, high = float(known.min()), float(known.max())  # type: ignore[arg-type]
        for text in set(columns[name].str.strip_chars().unique().to_list()) & set(_SENTINELS):
            number = float(text)
            if (number < 0 <= low) or (number > high and number - high > max(5.0, high - low)):
                odd.setdefault(text, set()).add(name)
    return [
        text
        for text in _SENTINELS
        if text in odd and all(name in odd[text] for name, texts in columns.items() if (texts == text).any())
    ]
