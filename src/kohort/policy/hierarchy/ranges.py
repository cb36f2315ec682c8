"""Taxonomies over numbers: bins of equal width, or bins between given cuts.

A bin's label says exactly what lies in it: ``[20 - 24]`` (whole numbers, both ends included),
``[2.5, 5[`` (other numbers, the right end excluded), ``<= 17``, ``< 18`` and ``>= 65``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, localcontext
from itertools import pairwise
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.errors import DataError, PolicyError
from kohort.policy.hierarchy.taxonomy import ROOT, Taxonomy
from kohort.policy.sections import Hierarchy

Number: TypeAlias = int | float
Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.float64]


def intervals(
    values: Numbers,
    *,
    width: Number,
    levels: Sequence[int] = (1, 2, 4),
    origin: Number | None = None,
    integers: bool,
    column: str,
    text: Sequence[str] | None = None,
) -> Taxonomy:
    """Build a taxonomy of bins of equal width, ever wider from level to level; its leaves are in the order of `values`.

    Parameters
    ----------
    values : ndarray of int64 or float64
        The distinct values, ascending.
    width : int or float
        Width of the unit.
    levels : sequence of int
        Width of each level's bins in units, finest first; each a multiple of the one before. A level of
        width 1 over whole numbers would be the values themselves and adds nothing.
    origin : int or float, optional
        Where a bin starts; 0 when absent.
    text : sequence of str, optional
        How each value is published; its shortest decimal form when absent.

    Raises
    ------
    PolicyError
        When width, levels or origin make no bins.
    DataError
        When the values are not finite, distinct and ascending.

    Examples
    --------
    >>> ages = intervals(np.array([20, 24, 25]), width=5, levels=(1, 2), integers=True, column="age")
    >>> ages.to_rows()
    [('20', '[20 - 24]', '[20 - 29]', '*'), ('24', '[20 - 24]', '[20 - 29]', '*'), \
('25', '[25 - 29]', '[20 - 29]', '*')]
    """
    start = 0 if origin is None else origin
    faults = []
    if not (isfinite(width) and width > 0 and isfinite(start)):
        faults.append("width must be a positive number, and origin a number")
    elif integers and not (width == int(width) and start == int(start)):
        faults.append("width and origin must be whole numbers, as the values are")
    if not levels or any(level != int(level) or level < 1 for level in levels):
        faults.append("levels must be whole numbers from 1 up")
    elif any(coarse <= fine or coarse % fine for fine, coarse in pairwise(levels)):
        faults.append("each of the levels must be a multiple of the one before, and wider")
    _refuse(faults, column)
    written = _checked(values, integers, column, text)
    with _exact():
        unit, zero = Decimal(str(width)), Decimal(str(start))
        widths = [unit * int(level) for level in levels if not (integers and unit * int(level) == 1)]

        def bins(value: Number) -> Iterator[str]:
            # as decimals: in binary, 0.3 lies below the third multiple of 0.1
            offset = Decimal(str(value)) - zero
            for size in widths:
                times, rest = divmod(offset, size)  # rounds towards zero, and bins must round down
                low = zero + (times - 1 if rest < 0 else times) * size
                yield _label(low, low + size, integers)

        return _taxonomy(values, written, bins, column)


def cuts(
    values: Numbers,
    *,
    cuts: Sequence[Sequence[Number]],
    integers: bool,
    column: str,
    text: Sequence[str] | None = None,
) -> Taxonomy:
    """Build a taxonomy of bins between cuts; the outer bins are open, and its leaves in the order of `values`.

    Parameters
    ----------
    cuts : sequence of sequence of int or float
        The cuts of each level, finest first; a bin starts at each cut. Each level must hold fewer cuts, all
        of them among the cuts of the level before.
    values, text
        As of `intervals`.

    Raises
    ------
    PolicyError
        When the cuts are not ascending or do not nest.
    DataError
        When the values are not finite, distinct and ascending.

    Examples
    --------
    >>> cuts(np.array([17, 18, 65]), cuts=[[18, 65]], integers=True, column="age").to_rows()
    [('17', '<= 17', '*'), ('18', '[18 - 64]', '*'), ('65', '>= 65', '*')]
    """
    faults = []
    if not cuts or not all(cuts):
        faults.append("cuts must list at least one cut per level")
    if not all(isfinite(cut) for level in cuts for cut in level):
        faults.append("cuts must be finite numbers")
    elif integers and any(cut != int(cut) for level in cuts for cut in level):
        faults.append("cuts must be whole numbers, as the values are")
    if any(low >= high for level in cuts for low, high in pairwise(level)):
        faults.append("cuts must ascend within a level")
    if any(not set(coarse) < set(fine) for fine, coarse in pairwise(cuts)):
        faults.append("the cuts of a level must be some, not all, of the cuts of the level before")
    _refuse(faults, column)
    written = _checked(values, integers, column, text)

    def bins(value: Number) -> Iterator[str]:
        for level in cuts:
            place = bisect_right(level, value)
            low = Decimal(str(level[place - 1])) if place else None
            high = Decimal(str(level[place])) if place < len(level) else None
            yield _label(low, high, integers)

    with _exact():
        return _taxonomy(values, written, bins, column)


def bins(spec: Hierarchy, values: Numbers, *, integers: bool, column: str, text: Sequence[str]) -> Taxonomy:
    """Build the taxonomy of intervals or cuts that a policy asks for."""
    if len(np.unique(values)) < len(values):
        raise DataError(f"column {column!r}: some of its numbers differ after the 15th digit alone; round them.")
    if spec.intervals is None:
        return cuts(values, cuts=spec.cuts or (), integers=integers, column=column, text=text)
    equal = spec.intervals
    width, levels, origin = equal.width, equal.levels, equal.origin
    return intervals(values, width=width, levels=levels, origin=origin, integers=integers, column=column, text=text)


def _taxonomy(values: Numbers, text: Sequence[str], bins: Callable[[Number], Iterator[str]], column: str) -> Taxonomy:
    paths = ((leaf, *bins(value), ROOT) for leaf, value in zip(text, values.tolist(), strict=True))
    return Taxonomy.from_paths(paths, column)


def _label(low: Decimal | None, high: Decimal | None, integers: bool) -> str:
    """Label the bin from `low` up to, but without, `high`; None means that the side is open."""
    if high is None:
        return f">= {_plain(low)}"
    last = _plain(high - 1 if integers else high)
    if low is None:
        return f"<= {last}" if integers else f"< {last}"
    return f"[{_plain(low)} - {last}]" if integers else f"[{_plain(low)}, {last}["


def _plain(number: Decimal | None) -> str:
    """Write a number without exponent, superfluous zeros or the sign of a zero."""
    return format((number or Decimal(0)).normalize(), "f")


def _checked(values: Numbers, integers: bool, column: str, text: Sequence[str] | None) -> Sequence[str]:
    """Check the values, and write each as text where the caller has not."""
    if not len(values):
        raise DataError(f"column {column!r}: there are no values to build a hierarchy from.")
    strange = int(np.count_nonzero(~np.isfinite(values)))
    if strange:
        raise DataError(
            f"column {column!r}: {strange:,} of {len(values):,} values are not finite; read them as missing."
        )
    broken = int(np.count_nonzero(values != np.floor(values))) if integers else 0
    if broken:
        of_all = f"{broken:,} of {len(values):,} values are not whole"
        raise DataError(f"column {column!r}: {of_all}; declare the column as a number.")
    if np.any(values[1:] <= values[:-1]):
        raise DataError(f"column {column!r}: values must be distinct and ascending; sort them first.")
    if text is None:
        with _exact():
            return [_plain(Decimal(str(value))) for value in values.tolist()]
    if len(text) != len(values):
        raise DataError(f"column {column!r}: {len(values):,} values but texts for {len(text)}; give one text each.")
    return text


@contextmanager
def _exact() -> Iterator[None]:
    """Make decimal arithmetic exact for all that a double can hold."""
    with localcontext(prec=1500):
        yield


def _refuse(faults: Sequence[str], column: str) -> None:
    PolicyError.refuse(f"hierarchy of column {column!r}: {fault}." for fault in faults)
