"""Types of the quasi-identifiers: declared in the policy, or inferred from every value.

A value that does not fit is never dropped or turned into a missing one: it is an error that says
how many there are and where the first one is.
"""

from __future__ import annotations

import polars as pl

from kohort.errors import DataError
from kohort.policy import Column, Policy
from kohort.policy.model import ColumnType
from kohort.table.texts import NUMBER

# A leading zero makes a code, not a number: 01234 stays a text.
INTEGER = r"^[+-]?(0|[1-9][0-9]*)$"
LEADING_ZERO = r"^[+-]?0[0-9]"
ISO_DATE = "%Y-%m-%d"


def typed_quasi_identifiers(frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """The frame with typed quasi-identifiers, missing ones null; the other columns as they are."""
    typed: list[pl.Series] = []
    faults: list[str] = []
    for name in policy.quasi_identifiers:
        try:
            typed.append(_typed(with_nulls(frame[name], policy), policy.columns[name]))
        except DataError as error:
            faults += error.faults
    if faults:
        raise DataError(*faults)
    return frame.with_columns(typed)


def with_nulls(series: pl.Series, policy: Policy) -> pl.Series:
    """Null where the policy says that a value is missing."""
    if series.dtype == pl.String:
        tokens = pl.Series(policy.input.missing, dtype=pl.String)
        return series.set(series.is_in(tokens.implode()).fill_null(value=False), None)
    if series.dtype.is_float():
        return series.fill_nan(None)
    return series


def _typed(series: pl.Series, column: Column) -> pl.Series:
    dtype = series.dtype
    if dtype == pl.Null:
        series, dtype = series.cast(pl.String), pl.String()
    if dtype == pl.Boolean:
        series, dtype = series.cast(pl.String), pl.String()
    if dtype == pl.String:
        return _from_text(series, column.type or infer(series, column), column)
    wanted = column.type
    if wanted == "string":
        return series.dt.strftime(ISO_DATE) if dtype == pl.Date else series.cast(pl.String)
    if dtype.is_temporal() and dtype in (pl.Date, pl.Datetime):
        _agree(series, wanted, "date")
        # The time of day is never published.
        return series.cast(pl.Date)
    if dtype.is_integer():
        _agree(series, wanted, "integer", "number")
        return (
            series.cast(pl.Int64)
            if dtype != pl.UInt64
            else _checked(series, series.cast(pl.Int64, strict=False), "64-bit integers")
        )
    if dtype.is_float():
        infinite = series.is_infinite().fill_null(value=False)
        if infinite.any():
            raise DataError(_unfit(series.name, infinite, "finite numbers"))
        if wanted == "integer":
            return _checked(series, series.set(series != series.round(), None).cast(pl.Int64, strict=False), "integers")
        _agree(series, wanted, "number")
        return series.cast(pl.Float64)
    if dtype.is_decimal():
        _agree(series, wanted, "number")
        return series
    raise DataError(f"column {series.name!r}: {dtype} values cannot be a quasi-identifier; convert the column first.")


def infer(series: pl.Series, column: Column) -> ColumnType:
    """The narrowest type that every value of a text column has."""
    values = series.drop_nulls().unique()
    hierarchy = column.hierarchy
    if hierarchy is not None and (hierarchy.file or hierarchy.tree or hierarchy.prefix or hierarchy.flat):
        return "string"
    if len(values) == 0 or (values.str.contains(LEADING_ZERO).any() and not values.str.contains(r"[.eE]").any()):
        return "string"
    trimmed = values.str.strip_chars()
    if trimmed.str.contains(INTEGER).all():
        return "integer"
    if trimmed.str.contains(NUMBER).all():
        return "number"
    if trimmed.str.to_date(ISO_DATE, strict=False).null_count() == 0:
        return "date"
    return "string"


def _from_text(series: pl.Series, wanted: ColumnType, column: Column) -> pl.Series:
    if wanted == "string":
        return series
    trimmed = series.str.strip_chars()
    if wanted == "integer":
        return _checked(series, trimmed.str.strip_prefix("+").cast(pl.Int64, strict=False), "64-bit integers")
    if wanted == "number":
        numbers = trimmed.set(~trimmed.str.contains(NUMBER), None).cast(pl.Float64, strict=False)
        return _checked(series, numbers.set(numbers.is_infinite(), None), "finite numbers")
    form = column.format or ISO_DATE
    return _checked(series, trimmed.str.to_date(form, strict=False), f"dates of the form {form}")


def _checked(series: pl.Series, converted: pl.Series, what: str) -> pl.Series:
    """The converted series, unless a value was lost on the way."""
    lost = converted.is_null() & series.is_not_null()
    if lost.any():
        raise DataError(_unfit(series.name, lost, what))
    return converted


def _unfit(name: str, wrong: pl.Series, what: str) -> str:
    return (
        f"column {name!r}: {wrong.sum()} values are not {what} (first in row {int(wrong.arg_true()[0]) + 1}); "
        "correct them, list them as missing in [input], or change the column's type."
    )


def _agree(series: pl.Series, wanted: str | None, *fitting: str) -> None:
    if wanted is not None and wanted not in fitting:
        raise DataError(f"column {series.name!r}: holds {series.dtype} values, not type {wanted!r}; change its type.")
