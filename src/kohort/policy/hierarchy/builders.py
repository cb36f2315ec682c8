"""Taxonomies built from the distinct values of a column: numbers, codes by prefix, dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from itertools import pairwise

from kohort.errors import DataError, PolicyError
from kohort.policy.hierarchy.ranges import bins, cuts, intervals
from kohort.policy.hierarchy.taxonomy import ROOT, Taxonomy

__all__ = ["DATE_LEVELS", "bins", "cuts", "dates", "intervals", "prefixes"]

DATE_LEVELS: dict[str, Callable[[date], str]] = {
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
}
"""How a date is written at each level, finest first."""


def prefixes(values: Iterable[str], *, lengths: Sequence[int] = (5, 3, 2), column: str, mask: str = "*") -> Taxonomy:
    """Build a taxonomy of ever shorter prefixes, as for postal codes; its leaves are in the order of the text.

    Parameters
    ----------
    values : iterable of str
        The values, all of one length; repetitions do not matter.
    lengths : sequence of int
        Characters that each level keeps, finest first. A first length equal to that of the values adds no
        level, as it hides nothing.
    mask : str
        The character that stands for a hidden one; the values must not contain it.

    Raises
    ------
    PolicyError
        When the lengths do not decrease or the mask is not one character.
    DataError
        When the values differ in length, are too short, or contain the mask.

    Examples
    --------
    >>> prefixes(["13210", "13053"], lengths=(5, 3, 2), column="zip").to_rows()
    [('13053', '130**', '13***', '*'), ('13210', '132**', '13***', '*')]
    """
    faults = []
    if not lengths or min(lengths) < 1 or any(shorter >= longer for longer, shorter in pairwise(lengths)):
        faults.append(f"hierarchy of column {column!r}: prefix lengths must be positive and decrease.")
    if len(mask) != 1 or mask.isspace():
        faults.append(f"hierarchy of column {column!r}: the mask must be one visible character.")
    PolicyError.refuse(faults)
    distinct = sorted(set(values))
    if not distinct:
        raise DataError(f"column {column!r}: there are no values to build a hierarchy from.")
    _check_codes(distinct, lengths[0], column, mask)
    full = len(distinct[0])
    kept = [length for length in lengths if length < full]
    paths = ((value, *(value[:n] + mask * (full - n) for n in kept), ROOT) for value in distinct)
    return Taxonomy.from_paths(paths, column)


def dates(
    values: Iterable[date], *, levels: Sequence[str] = ("month", "quarter", "year", "decade"), column: str
) -> Taxonomy:
    """Build a taxonomy of calendar periods; its leaves, written ``2024-03-15``, are in the order of time.

    Parameters
    ----------
    values : iterable of date
        The days; repetitions do not matter.
    levels : sequence of str
        Some of month, quarter, year and decade, finest first.

    Raises
    ------
    PolicyError
        When a level is unknown or out of order.
    DataError
        When there are no values.

    Examples
    --------
    >>> dates([date(2024, 3, 15)], column="born").to_rows()
    [('2024-03-15', '2024-03', '2024-Q1', '2024', '2020s', '*')]
    """
    known = list(DATE_LEVELS)
    if not levels or list(levels) != [level for level in known if level in levels]:
        raise PolicyError(
            f"hierarchy of column {column!r}: date levels must be some of {', '.join(known)}, in this order."
        )
    days = sorted({date(value.year, value.month, value.day) for value in values})
    if not days:
        raise DataError(f"column {column!r}: there are no values to build a hierarchy from.")
    paths = ((day.isoformat(), *(DATE_LEVELS[level](day) for level in levels), ROOT) for day in days)
    return Taxonomy.from_paths(paths, column)


def _check_codes(distinct: Sequence[str], longest: int, column: str, mask: str) -> None:
    """Refuse values that prefixes cannot describe, or that could be taken for a masked label."""
    faults = []
    sizes = Counter(map(len, distinct))
    if len(sizes) > 1:
        counts = ", ".join(f"{count} of length {size}" for size, count in sorted(sizes.items()))
        faults.append(f"column {column!r}: values differ in length ({counts}); pad them to one length.")
    short = sum(count for size, count in sizes.items() if size < longest)
    if short:
        faults.append(
            f"column {column!r}: {short:,} of {len(distinct):,} values are shorter than the prefix length "
            f"{longest}; shorten the prefixes or pad the values."
        )
    masked = sum(mask in value for value in distinct)
    if masked:
        faults.append(
            f"column {column!r}: {masked:,} of {len(distinct):,} values contain the mask character; "
            "choose another mask, or read these values as missing."
        )
    DataError.refuse(faults)
