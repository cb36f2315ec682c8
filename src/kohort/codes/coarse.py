"""Numbers and dates that are coarsened: on a grid, up to a border, never too narrowly.

`snap` moves the ends of an interval outward to multiples of a grid, values from `bottom` down and from `top` up are
one each, and an interval narrower than `min_width` becomes that wide. Values that are always published alike share one
code, so algorithms see the true cost of a box.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.errors import DataError, PolicyError
from kohort.policy import Column
from kohort.policy.sections import PRECISION
from kohort.table.texts import as_texts
from kohort.table.words import in_words

STAR = "*"
EPOCH = date(1970, 1, 1).toordinal()
INT64 = 2**63

Codes = NDArray[np.int32]
Exact = NDArray[np.object_]
"""Python's integers: numbers in units, exact however large."""


@dataclass(frozen=True)
class Units:
    """Values as whole numbers of the last digit that any of them has; dates as days since Monday 0001-01-01."""

    dtype: pl.DataType
    digits: int = 0
    """Digits after the point."""

    def of(self, value: Any) -> int:
        """A number, or a date, in units."""
        if self.dtype == pl.Date:
            return (value if isinstance(value, date) else date.fromisoformat(value)).toordinal() - 1
        return self.length(value)

    def length(self, value: Any) -> int:
        """A number, or a number of days, in units."""
        with localcontext(prec=1500):
            return int(Decimal(str(value)).scaleb(self.digits))

    def numbers(self, units: Exact) -> NDArray[np.float64]:
        """As `encode.as_numbers` has them: dates count from 1970."""
        if self.dtype == pl.Date:
            return np.asarray(units + 1 - EPOCH, np.float64)
        return np.array([unit / 10**self.digits for unit in units], np.float64)

    def series(self, units: Exact, name: str) -> pl.Series:
        """Values of the column's own type."""
        if self.dtype == pl.Date:
            if len(units) and not 0 <= min(units) <= max(units) < date.max.toordinal():
                raise DataError(
                    f"column {name!r}: an end would lie outside the years 1 to 9999; use 'bottom' and 'top'."
                )
            return pl.Series(name, [date.fromordinal(unit + 1) for unit in units], dtype=pl.Date)
        if self.dtype.is_integer():
            if len(units) and not -INT64 <= min(units) <= max(units) < INT64:
                raise DataError(f"column {name!r}: an end would be no 64-bit integer; use a 'bottom' and a 'top'.")
            return pl.Series(name, list(units), dtype=self.dtype)
        with localcontext(prec=1500):
            decimals = [Decimal(unit).scaleb(-self.digits) for unit in units]
        if self.dtype.is_float():
            floats = [float(number) for number in decimals]
            # what is published is the shortest text of the float
            if any(Decimal(repr(near)) != number for near, number in zip(floats, decimals, strict=True)):
                raise DataError(
                    f"column {name!r}: an end would have more digits than a number of 64 bits holds; "
                    "choose a coarser 'snap' or 'min_width', or use 'bottom' and 'top'."
                )
            return pl.Series(name, floats, dtype=self.dtype)
        most = 10 ** int(self.dtype.precision or 38)  # type: ignore[attr-defined]
        if len(units) and not -most < min(units) <= max(units) < most:
            raise DataError(f"column {name!r}: an end would have too many digits; use a 'bottom' and a 'top'.")
        return pl.Series(name, decimals, dtype=self.dtype)


@dataclass(frozen=True)
class Ends:
    """What intervals are published as."""

    low: Exact
    high: Exact
    no_low: NDArray[np.bool_]
    """Whether everything below is in it, too; then `low` means nothing."""
    no_high: NDArray[np.bool_]


@dataclass(frozen=True)
class Coarse:
    """The codes of a column that is coarsened."""

    units: Units
    lows: Exact
    highs: Exact
    """The least that can be published about a code alone, in units; both ascend."""
    width: int
    """Least width of an interval, in units."""
    bottom: int | None
    top: int | None
    """Borders, in units."""
    has_bottom: bool
    has_top: bool
    """Whether the first code is that of values up to the bottom, and the last of those from the top."""
    numbers: NDArray[np.float64]
    """The distinct values of the table, ascending."""

    def ends(self, lo: Codes, hi: Codes) -> Ends:
        """The published ends of each box side.

        A narrow interval becomes `width` wide. It begins at a multiple of `width`, so that its place reveals nothing;
        only if it crosses the next multiple it ends where its values do.
        """
        low, high = self.lows[lo], self.highs[hi]
        no_low = (lo == 0) & self.has_bottom
        no_high = (hi == len(self.lows) - 1) & self.has_top
        if self.width:
            start = np.maximum(low // self.width * self.width, high - self.width)
            if self.bottom is not None:
                start = np.maximum(start, self.bottom)
            if self.top is not None:
                start = np.minimum(start, self.top - self.width)
            narrow = (high - low < self.width).astype(bool) & ~no_low & ~no_high
            low, high = np.where(narrow, start, low), np.where(narrow, start + self.width, high)
        return Ends(low, high, no_low, no_high)

    def keys(self, lo: Codes, hi: Codes) -> NDArray[np.int64]:
        """A number for each box side, alike for those that are published alike; -1 for `*`."""
        pairs, index = distinct_sides(lo, hi, len(self.lows))
        ends = self.ends(*pairs)
        rows = list(zip(ends.low, ends.high, ends.no_low, ends.no_high, strict=True))
        numbers: dict[tuple[Any, ...], int] = {}
        keys = [
            numbers.setdefault((None if below else low, None if above else high), len(numbers))
            if not (below and above)
            else -1
            for low, high, below, above in rows
        ]
        return np.array(keys, np.int64)[index]

    def texts(self, lo: Codes, hi: Codes, name: str) -> pl.Series:
        """Each box side as text: `[20 - 25]`, `<= 18`, `>= 90`, a bare value, or `*`."""
        pairs, index = distinct_sides(lo, hi, len(self.lows))
        ends = self.ends(*pairs)
        low, high = (as_texts(self.units.series(side, name)) for side in (ends.low, ends.high))
        frame = pl.DataFrame({"low": low, "high": high, "below": ends.no_low, "above": ends.no_high})
        texts = frame.select(
            pl.when(pl.col("below") & pl.col("above"))
            .then(pl.lit(STAR))
            .when(pl.col("below"))
            .then("<= " + pl.col("high"))
            .when(pl.col("above"))
            .then(">= " + pl.col("low"))
            .when(pl.col("low") == pl.col("high"))
            .then(pl.col("low"))
            .otherwise(pl.format("[{} - {}]", "low", "high"))
            .alias(name)
        ).to_series()
        return texts.gather(index)

    def typed(self, lo: Codes, hi: Codes, name: str) -> tuple[pl.Series, pl.Series]:
        """The ends as values of the column's type, null where there is none."""
        ends = self.ends(lo, hi)
        low = self.units.series(ends.low, name).set(pl.Series(ends.no_low), None)
        return low, self.units.series(ends.high, name).set(pl.Series(ends.no_high), None)

    def spans(self, lo: Codes, hi: Codes, range_low: float, range_high: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """The ends as numbers; those that are open are the ends of the range."""
        pairs, index = distinct_sides(lo, hi, len(self.lows))
        ends = self.ends(*pairs)
        low = np.where(ends.no_low, range_low, self.units.numbers(ends.low))
        high = np.where(ends.no_high, range_high, self.units.numbers(ends.high))
        return low[index], high[index]

    def is_everything(self, lo: Codes, hi: Codes) -> NDArray[np.bool_]:
        """Whether a box side is published as `*`."""
        if not (self.has_bottom and self.has_top):
            return np.zeros(len(lo), bool)
        return np.asarray((lo == 0) & (hi == len(self.lows) - 1), bool)


def distinct_sides(lo: Codes, hi: Codes, size: int) -> tuple[tuple[Codes, Codes], NDArray[np.int64]]:
    """Each different (lo, hi) once, and where every one of the given ones is among them."""
    pairs, index = np.unique(lo.astype(np.int64) * size + hi, return_inverse=True)
    return ((pairs // size).astype(np.int32), (pairs % size).astype(np.int32)), index


def coarsened(values: pl.Series, numbers: NDArray[np.float64], column: Column) -> tuple[Coarse, Codes] | None:
    """The codes of a column that is coarsened, and the code of each value; None for any other column.

    Parameters
    ----------
    values : Series
        The distinct values, ascending.
    numbers : array of float
        The same as numbers.
    """
    given = {key: getattr(column, key) for key in PRECISION if getattr(column, key) is not None}
    if not given or not len(values):
        return None
    units = _units(values, given)
    snap, width = (units.length(given.get(key, 0)) for key in ("snap", "min_width"))
    bottom, top = (units.of(given[key]) if key in given else None for key in ("bottom", "top"))
    cells = _cells([units.of(value) for value in values], snap, bottom, top)
    new = np.array([here != before for here, before in zip(cells[1:], cells, strict=False)], bool)
    codes = np.cumsum(np.append(False, new), dtype=np.int32)
    first = np.flatnonzero(np.append(True, new))
    lows, highs = (np.array([cells[place][side] for place in first] + [0], object)[:-1] for side in (0, 1))
    for side in (lows, highs):
        units.series(side, values.name)  # refuses what could not be published
    if values.dtype.is_float() and not (abs(lows[0]) + abs(highs[-1]) + width) // 10**units.digits < sys.float_info.max:
        raise DataError(f"column {values.name!r}: an end would be no number of 64 bits; use a 'bottom' and a 'top'.")
    coarse = Coarse(
        units=units,
        lows=lows,
        highs=highs,
        width=max(width, snap),
        bottom=bottom,
        top=top,
        has_bottom=cells[0][2] == "bottom",
        has_top=cells[-1][2] == "top",
        numbers=numbers,
    )
    return coarse, codes


def _cells(units: Iterable[int], snap: int, bottom: int | None, top: int | None) -> list[tuple[int, int, str]]:
    """The least interval that may be published about each value alone, and which border it lies beyond."""
    cells = []
    for unit in units:
        if bottom is not None and unit <= bottom:
            cells.append((bottom, bottom, "bottom"))
        elif top is not None and unit >= top:
            cells.append((top, top, "top"))
        elif snap:
            cells.append((unit // snap * snap, -(-unit // snap) * snap, ""))
        else:
            cells.append((unit, unit, ""))
    return cells


def _units(values: pl.Series, given: dict[str, float | str]) -> Units:
    """How values and settings are counted alike, or a refusal of settings that do not fit the values."""
    name, dtype = values.name, values.dtype
    keys = ", ".join(f"'{key}'" for key in given)
    if not (dtype.is_numeric() or dtype == pl.Date):
        raise PolicyError(
            f"column {name!r}: {keys} is for numbers and dates, and it holds {in_words(dtype)}; remove it."
        )
    borders = {key: border for key, border in given.items() if key in ("bottom", "top")}
    if any(isinstance(border, str) != (dtype == pl.Date) for border in borders.values()):
        wanted = "dates" if dtype == pl.Date else "numbers"
        raise PolicyError(f"column {name!r}: 'bottom' and 'top' must be {wanted}, as the values are.")
    steps = [Decimal(str(step)) for step in given.values() if not isinstance(step, str)]
    if (dtype == pl.Date or dtype.is_integer()) and any(step != int(step) for step in steps):
        what = "days" if dtype == pl.Date else "numbers, as the values are"
        raise PolicyError(f"column {name!r}: {keys} must be whole {what}.")
    if dtype == pl.Date or dtype.is_integer():
        return Units(dtype)
    if dtype.is_decimal() and _digits(steps) > (room := int(dtype.scale)):  # type: ignore[attr-defined]
        raise PolicyError(f"column {name!r}: {keys} must have at most {room} digits after the point, as the values do.")
    return Units(dtype, max(0, _digits(steps), _digits(Decimal(str(value)) for value in values)))


def _digits(numbers: Iterable[Decimal]) -> int:
    """Digits after the point that the numbers need."""
    return max((-int(number.normalize().as_tuple().exponent) for number in numbers), default=0)
