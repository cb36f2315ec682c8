"""Types of the quasi-identifiers: declared in the policy, or inferred from every value.

A value that does not fit is never dropped or turned into a missing one: it is an error that says
how many there are and where the first one is.
"""

from __future__ import annotations

from contextlib import suppress

import polars as pl

from kohort.errors import DataError
from kohort.policy import Column, Policy
from kohort.policy.sections import ColumnType, Role
from kohort.table.texts import NUMBER
from kohort.table.words import counted, in_words

# A leading zero makes a code, not a number: 01234 stays a text.
INTEGER = r"^[+-]?(0|[1-9][0-9]*)$"
LEADING_ZERO = r"^[+-]?0[0-9]"
DIGITS = r"^[+-]?[0-9]+$"
ISO_DATE = "%Y-%m-%d"
_NOUN = {"quasi": "quasi-identifier", "sensitive": "sensitive column of this algorithm"}
ISO_SHAPE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def typed_quasi_identifiers(frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """The frame with typed quasi-identifiers, missing ones null; the other columns as they are."""
    return typed_columns(frame, policy, "quasi")


def typed_columns(frame: pl.DataFrame, policy: Policy, role: Role) -> pl.DataFrame:
    """The frame with the columns of one role typed, missing values null; the other columns as they are."""
    typed: list[pl.Series] = []
    faults: list[str] = []
    for name in policy.having_role(role):
        try:
            typed.append(typed_column(frame[name], policy))
        except DataError as error:
            faults += error.faults
    if faults:
        raise DataError(*faults)
    return frame.with_columns(typed)


def typed_column(series: pl.Series, policy: Policy) -> pl.Series:
    """A column of the policy with its type, missing values null."""
    return _typed(with_nulls(series, policy), policy.columns[series.name])


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
    if dtype in (pl.Date, pl.Datetime):
        _agree(series, wanted, "date")
        # The time of day is never published.
        return _checked(series, _of_four_digits(series.cast(pl.Date)), "date", " of the years 1 to 9999")
    if dtype.is_integer():
        _agree(series, wanted, "integer", "number")
        return _whole(series, series)
    if dtype.is_float():
        infinite = series.is_infinite().fill_null(value=False)
        if infinite.any():
            raise DataError(_unfit(series.name, infinite, "finite number"))
        if wanted == "integer":
            return _whole(series, series.set(series != series.round(), None))
        _agree(series, wanted, "number")
        return series.cast(pl.Float64)
    if dtype.is_decimal():
        _agree(series, wanted, "number")
        return series
    raise DataError(
        f"column {series.name!r}: {in_words(dtype)} cannot be a {_NOUN[column.role]}; convert the column first."
    )


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
    if _dates(trimmed, ISO_DATE).null_count() == 0:
        return "date"
    return "string"


def _from_text(series: pl.Series, wanted: ColumnType, column: Column) -> pl.Series:
    if wanted == "string":
        return series
    trimmed = series.str.strip_chars()
    if wanted == "integer":
        return _whole(series, trimmed.set(~trimmed.str.contains(DIGITS), None).str.strip_prefix("+"))
    if wanted == "number":
        numbers = trimmed.set(~trimmed.str.contains(NUMBER), None).cast(pl.Float64, strict=False)
        return _checked(series, numbers.set(numbers.is_infinite(), None), "finite number")
    form = column.format or ISO_DATE
    return _checked(series, _dates(trimmed, form), "date", f" of the form {form}")


def _whole(series: pl.Series, candidates: pl.Series) -> pl.Series:
    """The candidates, null where a value is not whole, as integers; or a refusal of those that are none."""
    integers = candidates.cast(pl.Int64, strict=False)
    too_large = (integers.is_null() & candidates.is_not_null()).any()
    return _checked(series, integers, "64-bit integer" if too_large else "whole number")


def _dates(texts: pl.Series, form: str) -> pl.Series:
    """The texts as dates, null where one has not the form: polars would take 2020-1-1 for ISO, the audit would not."""
    if form == ISO_DATE:
        texts = texts.set(~texts.str.contains(ISO_SHAPE), None)
    with suppress(pl.exceptions.PolarsError):
        return _of_four_digits(texts.str.to_date(form, strict=False))
    # A form that makes no date of anything, such as one of an hour alone.
    return pl.repeat(None, len(texts), dtype=pl.Date, eager=True)


def _of_four_digits(dates: pl.Series) -> pl.Series:
    """Null where a year has no four digits, for then the published date could not be read."""
    return dates.set(~dates.dt.year().is_between(1, 9999), None)


def _checked(series: pl.Series, converted: pl.Series, noun: str, more: str = "") -> pl.Series:
    """The converted series, unless a value was lost on the way."""
    lost = converted.is_null() & series.is_not_null()
    if lost.any():
        raise DataError(_unfit(series.name, lost, noun, more))
    return converted


def _unfit(name: str, wrong: pl.Series, noun: str, more: str = "") -> str:
    """How many values are not what the noun and more says, and where the first of them is."""
    count = int(wrong.sum())
    them = "it" if count == 1 else "them"
    return (
        f"column {name!r}: {counted(count, f'value is no {noun}', f'values are not {noun}s')}{more} "
        f"(first in row {int(wrong.arg_true()[0]) + 1}); "
        f"correct {them}, list {them} as missing in [input], or change the column's type."
    )


def _agree(series: pl.Series, wanted: str | None, *fitting: str) -> None:
    if wanted is not None and wanted not in fitting:
        raise DataError(
            f"column {series.name!r}: holds {in_words(series.dtype)}, not type {wanted!r}; change its type."
        )
