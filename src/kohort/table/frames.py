"""Frames of polars, pandas and pyarrow as one polars frame.

Columns are taken one by one, so that a fault can name its column; what another library says about
a fault is never passed on, for it quotes cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

import polars as pl

from kohort.errors import DataError
from kohort.table.words import namesakes

FrameKind = Literal["polars", "pandas", "pyarrow"]
T = TypeVar("T")


def take_frame(source: Any) -> tuple[pl.DataFrame, FrameKind]:
    """The frame as one of polars, and the library that it came from."""
    if isinstance(source, pl.DataFrame):
        return source, "polars"
    if isinstance(source, pl.LazyFrame):
        return _collected(source), "polars"
    kind = type(source)
    match kind.__module__.partition(".")[0], kind.__name__:
        case "pandas", "DataFrame":
            return _from_pandas(source), "pandas"
        case "pyarrow", "Table" | "RecordBatch":
            return _from_arrow(source.schema.names, source.columns), "pyarrow"
    raise DataError(
        f"a table of type {kind.__module__}.{kind.__qualname__} is not known; "
        "give a path, or a polars, pandas or pyarrow table."
    )


def _collected(source: pl.LazyFrame) -> pl.DataFrame:
    fault = "the table: this lazy frame cannot be collected; collect it yourself to see why."
    frame: pl.DataFrame
    [frame] = _each([("", source)], lambda lazy: lazy.collect(), lambda _: fault)
    return frame


def _from_pandas(source: Any) -> pl.DataFrame:
    """The columns alone: an index may identify people, and no role can be given to it."""
    try:
        import pyarrow
    except ImportError:
        raise DataError("the table: pandas tables need pyarrow; install kohort[frames].") from None
    names = [str(name) for name in source.columns]
    columns = _each(
        ((name, source.iloc[:, position]) for position, name in enumerate(names)),
        lambda column: pyarrow.array(column, from_pandas=True),
    )
    return _from_arrow(names, columns)


def _from_arrow(names: list[str], columns: list[Any]) -> pl.DataFrame:
    if twice := namesakes(names):
        raise DataError(*(f"the table: more than one column is named {name!r}; rename all but one." for name in twice))
    series = _each(zip(names, columns, strict=True), _series_of_arrow)
    return pl.DataFrame([values.alias(name) for name, values in zip(names, series, strict=True)])


def _series_of_arrow(column: Any) -> pl.Series:
    # polars does not raise for these: it panics, and tells so on stderr
    if "decimal256" in str(column.type):
        raise OverflowError
    return pl.Series(pl.from_arrow(column))


def _strange(name: str) -> str:
    return (
        f"the table: column {name!r} mixes kinds of values, or holds some that are neither text, number nor date; "
        "convert it to one of these."
    )


def _each(
    columns: Iterable[tuple[str, Any]], convert: Callable[[Any], T], fault: Callable[[str], str] = _strange
) -> list[T]:
    """Convert each column, or name all that another library cannot convert."""
    converted: list[T] = []
    faults: list[str] = []
    for name, column in columns:
        try:
            converted.append(convert(column))
        except MemoryError:
            raise
        except OverflowError:
            faults.append(
                f"the table: column {name!r} holds numbers of too many digits; round them, or make them text."
            )
        except Exception:
            faults.append(fault(name))
    # raised out here, so that the quoted cells are not even in the context of the exception
    if faults:
        raise DataError(*faults)
    return converted
