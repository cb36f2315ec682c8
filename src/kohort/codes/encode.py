"""Table + policy -> codes: every quasi-identifier becomes one integer column.

A categorical value gets the depth-first number of its leaf, a number or date its rank among the
distinct values, so any set of records is a box `lo..hi` per axis. A missing value that counts
as a value of its own gets one more code after all others; a box that holds it and anything else
is published as `*`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isfinite
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.coarse import Coarse, coarsened
from kohort.errors import CellError, DataError, PolicyError
from kohort.policy import Column, Policy
from kohort.policy.hierarchy import Taxonomy, bins, dates, prefixes
from kohort.policy.sections import Role
from kohort.privacy.reference import taxonomy_of
from kohort.table.texts import as_texts
from kohort.table.words import counted, in_words

Number = TypeVar("Number", bound=np.generic)

STAR = "*"
"""The published form of a fully generalized value."""


@dataclass(frozen=True)
class LineAxis:
    """Numbers or dates, published as intervals."""

    name: str
    weight: float
    values: pl.Series
    """The distinct values, ascending; the first one of each code if it is coarsened."""
    low: float
    """Ends of the range that a width is measured against."""
    high: float
    has_missing: bool
    coarse: Coarse | None = None
    """How it is coarsened, if it is."""

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self.values) + self.has_missing

    @property
    def missing_code(self) -> int:
        """Code of a missing value, or -1."""
        return len(self.values) if self.has_missing else -1

    @cached_property
    def positions(self) -> NDArray[np.float64]:
        """The values as shares of the range, 0 at its low end.

        What is coarsened lies in the middle of what is published about it, so that the difference of two is
        never more than what an interval from one to the other costs.
        """
        width = self.high - self.low
        numbers = as_numbers(self.values)
        if self.coarse is not None:
            low, high = map(self.coarse.units.numbers, (self.coarse.lows, self.coarse.highs))
            numbers = np.clip((low + high) / 2, self.low, self.high)
        return (numbers - self.low) / width if width > 0 else np.zeros(len(numbers))

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The distinct values of the table as numbers."""
        return as_numbers(self.values) if self.coarse is None else self.coarse.numbers

    def ends(self, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends of what is published, as numbers; for sides without a missing value."""
        if self.coarse is not None:
            return self.coarse.spans(lo, hi, self.low, self.high)
        numbers = as_numbers(self.values)
        return numbers[lo], numbers[hi]

    def keys(self, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.int64]:
        """A number for each box side; sides that are published alike have the same."""
        mixed = (hi == self.missing_code) & (lo < hi)
        if self.coarse is None or len(self.values) == 0:
            return np.where(mixed, -1, lo.astype(np.int64) * self.size + hi)
        last = len(self.values) - 1
        keys = self.coarse.keys(np.minimum(lo, last), np.minimum(hi, last))
        return np.where(hi == self.missing_code, np.where(mixed, -1, -2), keys)

    def published(self, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> pl.Series:
        """Text of each box side: a bare value, an interval, `*`, or null for missing."""
        if len(self.values) == 0:  # every value is missing
            return pl.Series(self.name, [None] * len(lo), dtype=pl.String)
        # Codes of missing values point past the end; they are overwritten below.
        last = len(self.values) - 1
        shown = self._texts(np.minimum(lo, last), np.minimum(hi, last))
        is_missing = pl.Series(hi == self.missing_code)
        frame = pl.DataFrame({"shown": shown, "point": lo == hi, "missing": is_missing})
        return frame.select(
            pl.when(pl.col("missing") & pl.col("point"))
            .then(None)
            .when(pl.col("missing"))
            .then(pl.lit(STAR))
            .otherwise(pl.col("shown"))
            .alias(self.name)
        ).to_series()

    def _texts(self, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> pl.Series:
        """Text of each side without a missing value."""
        if self.coarse is not None:
            return self.coarse.texts(lo, hi, self.name)
        texts = as_texts(self.values)
        frame = pl.DataFrame({"lo": texts.gather(lo), "hi": texts.gather(hi), "point": lo == hi})
        shown = pl.when("point").then(pl.col("lo")).otherwise(pl.format("[{} - {}]", "lo", "hi"))
        return frame.select(shown.alias(self.name)).to_series()


@dataclass(frozen=True)
class TreeAxis:
    """Categories, published as the label of their lowest common ancestor."""

    name: str
    weight: float
    taxonomy: Taxonomy
    has_missing: bool

    @property
    def size(self) -> int:
        """Number of codes."""
        return self.taxonomy.n_leaves + self.has_missing

    @property
    def missing_code(self) -> int:
        """Code of a missing value, or -1."""
        return self.taxonomy.n_leaves if self.has_missing else -1

    def nodes(self, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.int32]:
        """Lowest common ancestor of each box side; a side with a missing value has the root."""
        last = self.taxonomy.n_leaves - 1
        nodes = np.asarray(self.taxonomy.lca(np.minimum(lo, last), np.minimum(hi, last)), np.int32)
        return np.where(hi == self.missing_code, np.int32(0), nodes)

    def keys(self, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.int64]:
        """A number for each box side; sides that are published alike have the same."""
        alone = (hi == self.missing_code) & (lo == hi)
        return np.where(alone, -1, self.nodes(lo, hi)).astype(np.int64)

    def published(self, lo: NDArray[np.int32], hi: NDArray[np.int32]) -> pl.Series:
        """Label of each box side; `*` for missing among others, null for missing alone."""
        # Two more labels than nodes: missing with others, missing alone.
        labels = pl.Series(self.name, [*self.taxonomy.labels, STAR, None], dtype=pl.String)
        n_nodes = self.taxonomy.n_nodes
        holds_missing = hi == self.missing_code
        index = np.where(holds_missing, np.where(lo == hi, n_nodes + 1, n_nodes), self.nodes(lo, hi))
        return labels.gather(index)


Axis = LineAxis | TreeAxis


@dataclass(frozen=True)
class Codes:
    """The quasi-identifiers of a table as integers."""

    array: NDArray[np.int32]
    """Codes, shape (records, axes)."""
    axes: tuple[Axis, ...]

    @cached_property
    def distinct(self) -> DistinctRows:
        """The distinct rows, with multiplicities."""
        return distinct_rows(self.array, np.array([axis.size for axis in self.axes], np.int64))


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows in lexicographic order: real tables repeat themselves."""

    codes: NDArray[np.int32]
    """Shape (distinct rows, axes)."""
    counts: NDArray[np.int64]
    """Number of records of each."""
    order: NDArray[np.int64]
    """Records sorted by row; the copies of row r are order[first[r] : first[r] + counts[r]]."""

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Where the copies of a row begin."""
        return np.cumsum(self.counts) - self.counts

    @property
    def row(self) -> NDArray[np.int32]:
        """The row of each record, in sorted order."""
        return np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)

    def by_record(self, values: NDArray[Number], drawn: NDArray[np.int64] | None = None) -> NDArray[Number]:
        """Values of the records in sorted order, or in one drawn from it, as values of the records as they came."""
        found = np.empty_like(values)
        found[self.order if drawn is None else self.order[drawn]] = values
        return found

    def by_row(self, values: NDArray[Number]) -> NDArray[Number]:
        """Values of the rows as values of the records as they came."""
        return self.by_record(np.repeat(values, self.counts))


def distinct_rows(array: NDArray[np.int32], sizes: NDArray[np.int64]) -> DistinctRows:
    """Sort the records lexicographically (stable) and group equal ones."""
    n = len(array)
    # Mixed-radix keys sort as the rows do; a new key starts where 63 bits are full.
    keys: list[NDArray[np.int64]] = []
    room = 0
    for axis, size in enumerate(sizes):
        if room < size:
            keys.append(np.zeros(n, np.int64))
            room = 2**62
        keys[-1] = keys[-1] * size + array[:, axis]
        room //= max(int(size), 1)
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    changes = np.zeros(n, bool)
    changes[:1] = True
    for key in keys:
        ordered = key[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(changes)
    return DistinctRows(array[order[starts]], np.diff(np.append(starts, n)), order)


def as_numbers(values: pl.Series) -> NDArray[np.float64]:
    """Numbers as they are, dates as days."""
    if values.dtype == pl.Date:
        values = values.cast(pl.Int32)
    return values.cast(pl.Float64).to_numpy()


def encode(table: pl.DataFrame, policy: Policy, role: Role = "quasi") -> Codes:
    """Encode the quasi-identifiers of a typed table, or its sensitive columns; every fault is reported."""
    axes: list[Axis] = []
    columns: list[NDArray[np.int32]] = []
    faults: list[str] = []
    for name in policy.having_role(role):
        try:
            axis, codes = encode_column(table[name], policy.columns[name], policy)
        except (DataError, PolicyError) as error:
            faults += error.faults
        else:
            axes.append(axis)
            columns.append(codes)
    DataError.refuse(faults)
    array = np.empty((table.height, len(columns)), np.int32)
    for j, codes in enumerate(columns):
        array[:, j] = codes
    array.setflags(write=False)
    return Codes(array, tuple(axes))


def _line(series: pl.Series, values: pl.Series, column: Column) -> tuple[LineAxis, NDArray[np.int32]]:
    """The axis of numbers or dates, and the code of each distinct value."""
    reach = _line_range(series, values, column)
    found = coarsened(values, as_numbers(values), column)
    coarse, codes = (None, np.arange(len(values), dtype=np.int32)) if found is None else found
    first = values.gather(np.unique(codes, return_index=True)[1])
    return LineAxis(series.name, column.weight, first, *reach, series.null_count() > 0, coarse), codes


def encode_column(series: pl.Series, column: Column, policy: Policy) -> tuple[Axis, NDArray[np.int32]]:
    """The axis of a typed column, and the code of each value."""
    axis: Axis
    values = series.drop_nulls().unique().sort()
    has_missing = series.null_count() > 0
    # A column without any value has nothing to build a hierarchy from, and needs none.
    if len(values) == 0 or (column.hierarchy is None and series.dtype != pl.String):
        axis, code_of_value = _line(series, values, column)
        index = values.search_sorted(series, side="left").to_numpy()
        codes = pl.Series(np.append(code_of_value, np.int32(-1))[np.minimum(index, len(values))])
    else:
        if column.hierarchy is None:
            _refuse_domain(values, column)
            coarsened(values, np.empty(0), column)  # which refuses texts
        texts = as_texts(values)
        if column.role == "quasi":
            _refuse_stars(series, texts)
            _refuse_blanks(series, texts)
        taxonomy = _taxonomy(values, texts, column, policy)
        leaf_of_value = taxonomy.codes(texts.to_list())
        _refuse_strangers(series, values, leaf_of_value)
        index = values.search_sorted(series, side="left").to_numpy()
        codes = pl.Series(np.append(leaf_of_value, np.int32(-1))[np.minimum(index, len(values))])
        axis = TreeAxis(series.name, column.weight, taxonomy, has_missing)
    array = codes.to_numpy().astype(np.int32)
    if has_missing:
        array = np.where(series.is_null().to_numpy(), np.int32(axis.missing_code), array)
    return axis, array


def _line_range(series: pl.Series, values: pl.Series, column: Column) -> tuple[float, float]:
    """The declared domain, which must hold every value; or the ends of the values themselves."""
    numbers = as_numbers(values)
    if column.domain is None:
        low, high = (float(numbers[0]), float(numbers[-1])) if len(numbers) else (0.0, 0.0)
        _refuse_endless(low, high, series.name)
        return low, high
    low, high = column.domain
    _refuse_endless(low, high, series.name)
    _refuse_domain(values, column)
    # exactly, for large whole numbers and long decimals are no floats
    first = bisect_left(values, Decimal(str(low)), key=_exactly)
    last = bisect_right(values, Decimal(str(high)), key=_exactly)
    outside = pl.concat([values[:first], values[last:]])
    if len(outside):
        lie = counted(len(outside), "distinct value lies", "distinct values lie")
        raise CellError(
            _rows_with(series, outside),
            lambda rows, where: (
                f"column {values.name!r}: {lie} outside its declared domain{where}; widen the domain in the policy or "
                "correct the table."
            ),
        )
    return low, high


def _refuse_endless(low: float, high: float, name: str) -> None:
    """Refuse a range whose width is no number: what an interval loses is a share of it."""
    if not isfinite(high - low):
        raise DataError(f"column {name!r}: its range is wider than any number of 64 bits; correct the table or domain.")


def _exactly(value: Any) -> Decimal:
    return Decimal(str(value))


def _refuse_domain(values: pl.Series, column: Column) -> None:
    """Refuse a domain of values that turn out to be no numbers: it would be dropped silently."""
    if column.domain is not None and len(values) and not values.dtype.is_numeric():
        raise PolicyError(
            f"column {values.name!r}: 'domain' is for numeric columns only, and it holds {in_words(values.dtype)}; "
            "remove it."
        )


def _taxonomy(values: pl.Series, texts: pl.Series, column: Column, policy: Policy) -> Taxonomy:
    """The taxonomy that the policy asks for."""
    name = values.name
    spec = column.hierarchy
    if spec is None or spec.flat:
        return Taxonomy.flat(texts.to_list(), column=name)
    if (written := taxonomy_of(policy, name)) is not None:
        return written
    if spec.prefix is not None:
        return prefixes(texts.to_list(), lengths=spec.prefix, column=name)
    if spec.dates is not None:
        _require(values, pl.Date, "dates", "date")
        return dates(values.to_list(), levels=spec.dates, column=name)
    numeric = values.dtype.is_numeric()
    if not numeric:
        _require(values, pl.Int64, "intervals" if spec.intervals else "cuts", "integer or number")
    integers = values.dtype.is_integer()
    numbers = values.to_numpy() if integers else as_numbers(values)
    return bins(spec, numbers, integers=integers, column=name, text=texts.to_list())


def _require(values: pl.Series, dtype: type[pl.DataType], hierarchy: str, wanted: str) -> None:
    if values.dtype != dtype:
        msg = (
            f"column {values.name!r}: a hierarchy of {hierarchy} needs type {wanted}; change the type or the hierarchy."
        )
        raise PolicyError(msg)


def _refuse_stars(series: pl.Series, texts: pl.Series) -> None:
    """Refuse a value that looks like a fully generalized one."""
    if (texts == STAR).any():
        raise CellError(
            (series == STAR).arg_true(),
            lambda rows, where: (
                f"column {series.name!r}: {counted(rows, 'row holds', 'rows hold')} the single character that a "
                f"release puts for a fully generalized value; correct {'it' if rows == 1 else 'them'}, "
                "or list it as missing in [input]."
            ),
        )


def _refuse_blanks(series: pl.Series, texts: pl.Series) -> None:
    """Refuse texts that nobody can see: they are no category, and a hierarchy could not name them."""
    blank = texts.str.strip_chars() == ""
    if blank.any():
        raise CellError(
            _rows_with(series, texts.filter(blank)),
            lambda rows, where: (
                f"column {series.name!r}: {counted(rows, 'row holds', 'rows hold')} blanks only; "
                f"list {'it' if rows == 1 else 'them'} as missing in [input]."
            ),
        )


def _rows_with(series: pl.Series, some: pl.Series) -> pl.Series:
    """The rows, from 0, that hold one of some values."""
    return series.is_in(some.implode()).fill_null(value=False).arg_true()


def _refuse_strangers(series: pl.Series, values: pl.Series, leaf_of_value: NDArray[np.int32]) -> None:
    """Refuse values that the taxonomy does not know, by count and row, never by name."""
    unknown = values.filter(pl.Series(leaf_of_value < 0))
    if len(unknown) == 0:
        return
    raise CellError(
        _rows_with(series, unknown),
        lambda rows, where: (
            f"column {series.name!r}: {len(unknown):,} distinct values in {rows:,} rows are not leaves of its hierarchy"
            f"{where}; add them to the hierarchy or correct the table."
        ),
    )
