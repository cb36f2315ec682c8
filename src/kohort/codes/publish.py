"""Boxes -> published values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes, Solution
from kohort.codes.coarse import distinct_sides
from kohort.codes.encode import STAR, Codes, LineAxis
from kohort.policy import Policy


@dataclass(frozen=True)
class PublishedTable:
    """A table that is written, and the promise that it is verified against."""

    name: str
    """Empty if it is the only one."""
    frame: pl.DataFrame
    order: NDArray[np.int64]
    """The original row of each row."""
    policy: Policy
    beside: str = ""
    """Name of the published table that it completes: the two are verified together."""

    @property
    def stars(self) -> int:
        """Rows with `*` in every quasi-identifier."""
        quasi = [name for name in self.policy.quasi_identifiers if name in self.frame.columns]
        return starred_rows(self.frame, quasi)


class InTables(Solution, ABC):
    """What an algorithm found that publishes several tables; it says which."""

    @abstractmethod
    def published(
        self, released: pl.DataFrame, kept: NDArray[np.int64], codes: Codes, policy: Policy
    ) -> list[PublishedTable]:
        """The tables, each in its published order.

        Parameters
        ----------
        released : DataFrame
            The published records with all columns.
        kept : array of int
            The original row of each of them.
        """


def published_tables(
    original: pl.DataFrame, usable: NDArray[np.int64], codes: Codes, solution: Solution, policy: Policy
) -> list[PublishedTable]:
    """The tables of the release, each in its published order; a single one has no name.

    Parameters
    ----------
    original : DataFrame
        The table as read, with pseudonyms in the place of the identifiers that have some.
    usable : array of int
        Rows of it that took part; the codes and the solution are about these.
    """
    kept = usable if solution.kept is None else usable[solution.kept]
    boxes = solution.boxes if solution.kept is None else solution.boxes.of(solution.kept)
    released, rows = recoded(original, kept, codes, boxes, policy)
    if isinstance(solution, InTables):
        return solution.published(released, rows, codes, policy)
    order = np.argsort(rows) if policy.output.order == "kept" else shuffled(len(rows), policy)
    return [PublishedTable("", released[order], rows[order], policy)]


def recoded(
    table: pl.DataFrame, kept: NDArray[np.int64], codes: Codes, boxes: Boxes, policy: Policy
) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The records of a table that are published, then the others as suppressed ones, if these are shown.

    Parameters
    ----------
    table : DataFrame
        As read, with pseudonyms in the place of the identifiers that have some.
    kept : array of int
        Rows of it that are published, by the boxes.

    Returns
    -------
    tuple
        Published rows, and the row of the table that each of them shows.
    """
    some = table[kept] if len(kept) < table.height else table
    released = publish(some, codes, boxes, policy.dropped, bounds=policy.output.bounds)
    if policy.output.suppressed != "starred" or len(kept) == table.height:
        return released, kept
    rest = np.setdiff1d(np.arange(table.height), kept)
    hidden = starred(table[rest], released, policy.quasi_identifiers)
    return pl.concat([released, hidden]), np.concatenate([kept, rest])


def shuffled(rows: int, policy: Policy, table: int = 0) -> NDArray[np.int64]:
    """A random order, another one for every table; without a seed it is drawn from fresh entropy of the system."""
    seed = policy.output.shuffle_seed
    drawn = seed if seed is None or not table else [seed, table]
    return np.random.default_rng(drawn).permutation(rows)


def publish(table: pl.DataFrame, codes: Codes, boxes: Boxes, dropped: tuple[str, ...], *, bounds: bool) -> pl.DataFrame:
    """The release: identifiers dropped, quasi-identifiers generalized, all else as it was.

    Parameters
    ----------
    table : DataFrame
        The records that are published, as read.
    dropped : tuple of str
        Columns that are not published.
    bounds : bool
        Add typed ends, and the middle between them, beside interval columns.
    """
    columns: list[pl.Series] = []
    axes = {axis.name: j for j, axis in enumerate(codes.axes)}
    for name in table.columns:
        if name in dropped:
            continue
        if name not in axes:
            columns.append(table[name])
            continue
        axis, lo, hi = codes.axes[axes[name]], boxes.lo[:, axes[name]], boxes.hi[:, axes[name]]
        sides, index = distinct_sides(lo, hi, axis.size)  # each is written once, then shared
        columns.append(axis.published(*sides).gather(index))
        if bounds and isinstance(axis, LineAxis):
            columns += _ends(axis, *sides, index)
    return pl.DataFrame(columns)


def _ends(axis: LineAxis, lo: NDArray[np.int32], hi: NDArray[np.int32], index: NDArray[np.int64]) -> list[pl.Series]:
    """Typed ends and middle of each interval, null where it holds a missing value."""
    open_ended = pl.Series(hi == axis.missing_code)
    last = max(len(axis.values) - 1, 0)
    if axis.coarse is not None:
        low, high = axis.coarse.typed(np.minimum(lo, last), np.minimum(hi, last), axis.name)
    elif len(axis.values):
        low, high = (axis.values.gather(np.minimum(side, last)) for side in (lo, hi))
    else:
        low = high = axis.values.extend_constant(None, len(lo))
    ends = {"lo": low, "hi": high, "mid": _middles(low, high)}
    return [end.set(open_ended, None).gather(index).alias(f"{axis.name}_{name}") for name, end in ends.items()]


def _middles(low: pl.Series, high: pl.Series) -> pl.Series:
    """The middles of intervals: of days the earlier of two, of numbers the nearest double; null where an end is."""
    found = [None if None in ends else _middle(*ends) for ends in zip(low.to_list(), high.to_list(), strict=True)]
    return pl.Series(low.name, found, pl.Date if low.dtype == pl.Date else pl.Float64)


def _middle(low: Any, high: Any) -> date | float:
    if isinstance(low, date):
        return low + timedelta(days=(high - low).days // 2)
    return float((Fraction(str(low)) + Fraction(str(high))) / 2)


def starred_rows(released: pl.DataFrame, quasi_identifiers: Sequence[str]) -> int:
    """Number of published rows with `*` in every quasi-identifier."""
    if not quasi_identifiers:
        return 0
    return int(released.select(pl.all_horizontal(pl.col(quasi_identifiers) == STAR).sum()).item() or 0)


def starred(table: pl.DataFrame, released: pl.DataFrame, quasi_identifiers: tuple[str, ...]) -> pl.DataFrame:
    """Suppressed records in the columns of the release, every quasi-identifier `*`."""

    def column(name: str, dtype: pl.DataType) -> pl.Series:
        if name in quasi_identifiers:
            return pl.repeat(STAR, table.height, eager=True).alias(name)
        # A column that the table has not is an end of an interval, and `*` has none.
        return table[name] if name in table.columns else pl.Series(name, [None] * table.height, dtype)

    # Not by literals: polars makes one row of them, however many records there are.
    return pl.DataFrame([column(name, dtype) for name, dtype in released.schema.items()])
