"""Types of the quasi-identifiers: declared in the policy, or inferred from every value.

A value that does not fit is never dropped or turned into a missing one: it is an error that says
how many there are and where the first one is.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from types import MappingProxyType

import polars as pl

from kohort.errors import CellError, DataError
from kohort.policy import Column, Policy
from kohort.policy.notation import Notation
from kohort.policy.sections import ColumnType, Role
from kohort.table.dates import ISO_DATE, read_dates
from kohort.table.numbers import in_points, refuse_ambiguous
from kohort.table.texts import NUMBER, as_texts
from kohort.table.words import counted, in_words
from kohort.table.zones import days, doubtful_days, refuse_without_zone

# A leading zero makes a code, not a number: 01234 stays a text.
INTEGER = r"^[+-]?(0|[1-9][0-9]*)$"
LEADING_ZERO = r"^[+-]?0[0-9]"
DIGITS = r"^[+-]?[0-9]+$"
_SURE_DIGITS = 15
"""Length of texts of numbers up to which different ones differ in 64 bits."""
_MOST_DIGITS = 38
_NOUN = {"quasi": "quasi-identifier", "sensitive": "sensitive column of this algorithm"}


def typed_quasi_identifiers(
    frame: pl.DataFrame, policy: Policy, zones: Mapping[str, str] = MappingProxyType({})
) -> pl.DataFrame:
    """The frame with typed quasi-identifiers, missing ones null; the other columns as they are.

    Parameters
    ----------
    zones : mapping
        Those of the file that it was read from: see `kohort.table.zones.parquet_zones`.
    """
    refuse_without_zone(zones, policy)
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
    DataError.refuse(faults)
    return frame.with_columns(typed)


def typed_column(series: pl.Series, policy: Policy) -> pl.Series:
    """A column of the policy with its type, missing values null."""
    column, notation = policy.columns[series.name], policy.notation(series.name)
    series = with_nulls(series, policy)
    if notation is None:
        _refuse_doubt(series, column, policy)
        return _one_zero(_typed(series, column))
    if series.dtype.is_numeric():
        raise DataError(
            f"column {series.name!r}: holds {in_words(series.dtype)}, and 'decimal' and 'thousands' are about texts; "
            "remove them."
        )
    if series.dtype == pl.String:
        series = _checked(series, in_points(series, notation), "number", f" {notation.words}")
    return _one_zero(_typed(series, column))


def _refuse_doubt(series: pl.Series, column: Column, policy: Policy) -> None:
    """Refuse texts that are numbers, of which nobody says how they are written, where that matters."""
    if series.dtype != pl.String or column.type in ("string", "date"):
        return
    if column.hierarchy is not None and column.hierarchy.is_of_texts:
        return
    trimmed = series.drop_nulls().unique().str.strip_chars()
    if not len(trimmed) or not trimmed.str.contains(r"^[+-]?[0-9][0-9.,'’_ \u00a0\u2009\u202f]*$").all():
        return
    marks = Notation.of(policy.input.decimal, policy.input.thousands)
    if marks is None:
        refuse_ambiguous(trimmed)
    elif column.type is not None or not trimmed.str.contains("[.,]").any():
        return
    elif trimmed.str.contains(NUMBER).all() or in_points(trimmed, marks).null_count() == 0:
        raise DataError(
            f"column {series.name!r}: its texts are numbers, and [input] says how these are written in columns with a "
            'type; give it type = "number", "integer" or "string".'
        )


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
        return _as_text(series)
    if dtype in (pl.Date, pl.Datetime):
        _agree(series, wanted, "date")
        _refuse_format(series, column)
        return _days(series)
    if dtype.is_integer():
        _agree(series, wanted, "integer", "number")
        return _whole(series, series)
    if dtype.is_float():
        infinite = series.is_infinite().fill_null(value=False)
        if infinite.any():
            raise _unfit(series.name, infinite, "finite number")
        if wanted == "integer":
            return _whole(series, series.set(series != series.round(), None))
        _agree(series, wanted, "number")
        return _doubles(series)
    if dtype.is_decimal():
        _agree(series, wanted, "number")
        return series
    raise DataError(
        f"column {series.name!r}: {in_words(dtype)} cannot be a {_NOUN[column.role]}; convert the column first."
    )


def _as_text(series: pl.Series) -> pl.Series:
    """Typed values as texts, if all write them alike: times of day and powers of ten are written in many ways."""
    texts = as_texts(series)
    written_alike = series.dtype.is_numeric() or series.dtype == pl.Date
    if not written_alike or texts.str.contains("[eE]").any():
        raise DataError(
            f"column {series.name!r}: {in_words(series.dtype)} have no one form as text; convert it to text first."
        )
    return texts


def _days(series: pl.Series) -> pl.Series:
    """The days of dates, or of moments in the column's own zone: the time of day is never published."""
    found = series if series.dtype == pl.Date else days(series)
    found = _checked(series, _of_four_digits(found), "date", " of the years 1 to 9999")
    doubtful = doubtful_days(series)
    if doubtful.any():
        raise _unfit(series.name, doubtful, "moment", " whose day all lists of time zones agree on")
    return found


def _refuse_format(series: pl.Series, column: Column) -> None:
    """Refuse a format that takes ISO dates for others, if the column is no text: it would be open which it holds."""
    iso = pl.Series(["2001-02-03"])
    if column.format is not None and (_dates(iso, column.format) != _dates(iso, ISO_DATE)).any():
        raise DataError(
            f"column {series.name!r}: holds {in_words(series.dtype)}, and 'format' is about texts; remove it."
        )


def _one_zero(series: pl.Series) -> pl.Series:
    """Zero without a sign: as the end of an interval, it would say how some record wrote it."""
    return series.set(series == 0.0, 0.0) if series.dtype == pl.Float64 else series


def _doubles(series: pl.Series) -> pl.Series:
    """Numbers as the decimals that they are written as: 0.1 of 32 bits is 0.1, and not 0.10000000149011612."""
    return series.cast(pl.Float64) if series.dtype == pl.Float64 else series.cast(pl.String).cast(pl.Float64)


def infer(series: pl.Series, column: Column) -> ColumnType:
    """The narrowest type that every value of a text column has."""
    values = series.drop_nulls().unique()
    if column.hierarchy is not None and column.hierarchy.is_of_texts:
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
        finite = _checked(series, numbers.set(numbers.is_infinite(), None), "finite number")
        return finite if _tells_all(trimmed) else _decimals(trimmed)
    form = column.format or ISO_DATE
    return _checked(series, _dates(trimmed, form), "date", f" of the form {form}")


def _tells_all(texts: pl.Series) -> bool:
    """Whether 64 bits hold every digit of some numbers, so that no two of them become one."""
    risky = texts.filter((texts.str.len_chars() > _SURE_DIGITS) | texts.str.contains("[eE]")).unique()
    return all(Decimal(text) == Decimal(repr(float(text))) for text in risky)


def _decimals(texts: pl.Series) -> pl.Series:
    """Numbers as decimals, with all of their digits."""
    exact = {text: _shortest(text) for text in texts.drop_nulls().unique()}
    after = max(max(0, -int(number.as_tuple().exponent)) for number in exact.values())
    before = max(max(0, number.adjusted() + 1) for number in exact.values())
    if after + before > _MOST_DIGITS:
        raise DataError(
            f"column {texts.name!r}: its numbers need {after + before} digits, and at most {_MOST_DIGITS} are kept "
            "apart; round them, or change the column's type."
        )
    dtype = pl.Decimal(_MOST_DIGITS, after)
    return texts.replace_strict(list(exact), pl.Series(list(exact.values()), dtype=dtype), return_dtype=dtype)


def _shortest(text: str) -> Decimal:
    """A number without superfluous zeros, exactly."""
    return Decimal(text).normalize(Context(prec=len(text), Emin=MIN_EMIN, Emax=MAX_EMAX))


def _whole(series: pl.Series, candidates: pl.Series) -> pl.Series:
    """The candidates, null where a value is not whole, as integers; or a refusal of those that are none."""
    integers = candidates.cast(pl.Int64, strict=False)
    too_large = (integers.is_null() & candidates.is_not_null()).any()
    return _checked(series, integers, "64-bit integer" if too_large else "whole number")


def _dates(texts: pl.Series, form: str) -> pl.Series:
    """The texts as dates, null where one has not the form."""
    return _of_four_digits(read_dates(texts, form))


def _of_four_digits(dates: pl.Series) -> pl.Series:
    """Null where a year has no four digits, for then the published date could not be read."""
    return dates.set(~dates.dt.year().is_between(1, 9999), None)


def _checked(series: pl.Series, converted: pl.Series, noun: str, more: str = "") -> pl.Series:
    """The converted series, unless a value was lost on the way."""
    lost = converted.is_null() & series.is_not_null()
    if lost.any():
        raise _unfit(series.name, lost, noun, more)
    return converted


def _unfit(name: str, wrong: pl.Series, noun: str, more: str = "") -> CellError:
    """That some values are not what the noun and more says."""

    def say(rows: int, where: str) -> str:
        them = "it" if rows == 1 else "them"
        return (
            f"column {name!r}: {counted(rows, f'value is no {noun}', f'values are not {noun}s')}{more}{where}; "
            f"correct {them}, list {them} as missing in [input], or change the column's type."
        )

    return CellError(wrong.arg_true(), say)


def _agree(series: pl.Series, wanted: str | None, *fitting: str) -> None:
    if wanted is not None and wanted not in fitting:
        raise DataError(
            f"column {series.name!r}: holds {in_words(series.dtype)}, not type {wanted!r}; change its type."
        )
