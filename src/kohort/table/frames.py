"""Frames of polars, pandas and pyarrow as one polars frame.

Columns are taken one by one, so that a fault can name its column. What another library says about a fault is never
passed on, for it quotes cells.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, TypeVar

import polars as pl
import polars.selectors as cs

from kohort.common.arrow import ArrowStream
from kohort.errors import DataError
from kohort.table.words import called, listed, namesakes, no_name
from kohort.table.zones import unknown_zone

FrameKind = Literal["polars", "pandas", "pyarrow"]
T = TypeVar("T")


def take_frame(source: Any, known: Collection[str] = ()) -> tuple[pl.DataFrame, FrameKind]:
    """The frame as one of polars, and the library that it came from; messages name the known columns."""
    if isinstance(source, pl.DataFrame):
        return source, "polars"
    if isinstance(source, pl.LazyFrame):
        return _collected(source), "polars"
    kind = type(source)
    match kind.__module__.partition(".")[0], kind.__name__:
        case "pandas", "DataFrame":
            return _from_pandas(source, known), "pandas"
        case "duckdb", "DuckDBPyRelation":
            return _from_relation(source), "polars"
        case "pyarrow", "Table" | "RecordBatch":
            return _from_columns(source.schema.names, source.columns, _series_of_arrow, known), "pyarrow"
    raise DataError(
        f"a table of type {kind.__module__}.{kind.__qualname__} is not known; "
        "give a path, a polars, pandas or pyarrow table, or a relation of DuckDB."
    )


def _collected(source: pl.LazyFrame) -> pl.DataFrame:
    fault = "the table: this lazy frame cannot be collected; collect it yourself to see why."
    frame: pl.DataFrame
    [frame] = _each([("", source)], lambda lazy: lazy.collect(), lambda _: fault)
    return frame


def _from_relation(source: Any) -> pl.DataFrame:
    """The rows of a relation of DuckDB, by Arrow."""
    _refuse_names([str(name) for name in source.columns])
    fault = "the table: this relation of DuckDB cannot be collected; collect it yourself to see why."
    frame: pl.DataFrame
    [frame] = _each([("", source)], lambda relation: pl.DataFrame(ArrowStream(relation)), lambda _: fault)
    return frame


def _from_pandas(source: Any, known: Collection[str]) -> pl.DataFrame:
    """The columns alone: an index may identify people, and no role can be given to it."""
    names = [str(name) for name in source.columns]
    return _from_columns(names, [source.iloc[:, position] for position in range(len(names))], _series_of_pandas, known)


def _from_columns(
    names: list[str], columns: list[Any], convert: Callable[[Any], pl.Series], known: Collection[str]
) -> pl.DataFrame:
    _refuse_names(names)
    places = (called(name, place, known) for place, name in enumerate(names, 1))
    series = _each(zip(places, columns, strict=True), convert)
    return pl.DataFrame([values.alias(name) for name, values in zip(names, series, strict=True)])


def _refuse_names(names: list[str]) -> None:
    if nameless := [place for place, name in enumerate(names, 1) if not name.strip()]:
        raise DataError(f"the table: {no_name(nameless)}")  # polars would invent a name
    if twice := namesakes(names):
        raise DataError(
            *(f"the table: columns {listed(same)} have the same name; rename all but one." for same in twice.values())
        )


# For decimals of 256 bits polars raises nothing: it panics, and says so on stderr.


def _series_of_pandas(column: Any) -> pl.Series:
    if "decimal256" in str(column.dtype) or (column.dtype == object and _digits(column) > 38):
        raise OverflowError
    if column.dtype == object and len(_calendars(column)) > 1:
        raise TypeError  # pyarrow would put all of them into the zone of the first, or drop the time of some
    return pl.Series(pl.from_pandas(column, nan_to_null=True))


def _series_of_arrow(column: Any) -> pl.Series:
    if "decimal256" in str(column.type):
        raise OverflowError
    return pl.Series(pl.from_arrow(column))


def _digits(values: Iterable[Any]) -> int:
    """The digits that a type needs to hold all of the decimals among the values."""
    before, after = 0, 0
    for value in values:
        if isinstance(value, Decimal) and value.is_finite():
            before = max(before, value.adjusted() + 1)
            after = max(after, -int(value.as_tuple().exponent))
    return before + after


def _calendars(values: Iterable[Any]) -> set[str]:
    """The time zones of the moments among the values, and whether there are days without a time beside them."""
    return {
        str(value.tzinfo) if isinstance(value, datetime) else "day"
        for value in values
        if isinstance(value, date) and value == value  # which NaT is not
    }


def _strange(column: str) -> str:
    return (
        f"the table: {column} mixes kinds of values or time zones, or holds some that are neither text, number nor "
        "date; convert it to one of these."
    )


def _each(
    columns: Iterable[tuple[str, Any]], convert: Callable[[Any], T], fault: Callable[[str], str] = _strange
) -> list[T]:
    """Convert each column, or report all that another library cannot convert."""
    converted: list[T] = []
    faults: list[str] = []
    for called_so, column in columns:
        try:
            converted.append(convert(column))
        except MemoryError:
            raise
        except ImportError:
            raise DataError("the table: pandas tables need pyarrow; install kohort[frames].") from None
        except OverflowError:
            faults.append(f"the table: {called_so} holds numbers of too many digits; round it, or make it text.")
        except pl.exceptions.ComputeError as error:
            is_zone = "time zone" in str(error)
            faults.append(f"the table: {unknown_zone(called_so)}" if is_zone else fault(called_so))
        except Exception:
            faults.append(fault(called_so))
    # raised out here, so that the quoted cells are not even in the context of the exception
    DataError.refuse(faults)
    return converted


def plain_values(frame: pl.DataFrame) -> pl.DataFrame:
    """The same values in the form in which they are published.

    Categories become texts, for their dictionary may hold values that no row has. NaN is a missing value, and a text
    file would say otherwise.
    """
    return frame.with_columns(
        pl.col(column).cast(pl.Float32 if dtype.is_float() else pl.String)
        for column, dtype in frame.schema.items()
        if dtype in (pl.Categorical, pl.Enum) or str(dtype) == "Float16"
    ).with_columns(cs.float().fill_nan(None))
