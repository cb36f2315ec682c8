"""Time zones of timestamps: a date is the date in the column's own zone, whatever the zone of the machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from kohort.common.arrow import SCHEMA, ArrowStream, time_zones
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.table.csv import literal_path

if TYPE_CHECKING:
    import duckdb

F = TypeVar("F", pl.DataFrame, pl.LazyFrame)

UTC = "UTC"
NONE = ""
"""In the place of a zone: moments of a file that says in no way where they were local."""
_YEARS = pl.Series([-62_135_596_800 - 86_400, 253_402_300_800 + 86_400])
"""Seconds since 1970 of the years 1 to 9999, and a day more at both ends."""
_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}


def parquet_zones(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, str]:
    """The zone of every column of moments of a Parquet file, `NONE` where the file has none; others are left out.

    A column of moments counts from 1970 in UTC: it is "adjusted to UTC", or of the old type INT96.
    """
    where = [literal_path(path)]
    held = connection.execute("SELECT value FROM parquet_kv_metadata(?) WHERE key = ?", [*where, SCHEMA]).fetchall()
    known = time_zones(bytes(held[0][0])) if held else {}
    moments = connection.execute(
        "SELECT name FROM parquet_schema(?) WHERE type = 'INT96' OR logical_type LIKE '%isAdjustedToUTC=1%' "
        "OR (logical_type IS NULL AND converted_type LIKE 'TIMESTAMP%')",
        where,
    ).fetchall()
    return {name: known.get(name, NONE) for (name,) in moments if known.get(name) != NONE}


def known_zone(zone: str) -> str | None:
    """The name of a zone; None for one that is not known."""
    try:
        kind = pl.Series([0]).cast(pl.Datetime("us", zone)).dtype
    except pl.exceptions.PolarsError:
        return None
    return kind.time_zone if isinstance(kind, pl.Datetime) else None


def unknown_zone(column: str) -> str:
    """That the zone of a column is not known by name."""
    return (
        f"{column} has a time zone that is not in the list of zones; convert it to one that is, such as "
        "Asia/Kolkata, or to UTC."
    )


def zoned(name: str, known: Collection[str]) -> str:
    """What a message calls a column: by its name if the policy has it, for other names may be cells."""
    return f"column {name!r}" if name in known else "a column"


def unknown_zones(zones: Mapping[str, str], table: str, known: Collection[str]) -> list[str]:
    """A sentence for each column whose zone is not known by name: whole hours from UTC are, other numbers are not."""
    return [
        f"{table}: {unknown_zone(zoned(name, known))}" for name, zone in zones.items() if zone and not known_zone(zone)
    ]


def refuse_without_zone(zones: Mapping[str, str], policy: Policy) -> None:
    """Refuse quasi-identifiers whose days are not known."""
    DataError.refuse(
        f"column {name!r}: the file holds moments and no time zone, so their days are not known; "
        "write it as a date, as local time without a zone, or with its zone."
        for name in policy.quasi_identifiers
        if zones.get(name) == NONE
    )


def refuse_zones(zones: Mapping[str, str], policy: Policy) -> None:
    """Refuse quasi-identifiers in any zone but UTC, for an engine that reads moments and no zones."""
    refuse_without_zone(zones, policy)
    DataError.refuse(
        f"column {name!r}: Spark does not read the time zone of a file, and so not its days; write it as a date, or "
        "use the local engine."
        for name in policy.quasi_identifiers
        if zones.get(name, UTC) != UTC
    )


def placed(frame: F, zones: Mapping[str, str]) -> F:
    """The frame with its moments in their zones, which databases leave behind."""
    kinds = frame.collect_schema()
    return frame.with_columns(
        pl.col(name).dt.convert_time_zone(zone)
        for name, zone in zones.items()
        if zone and isinstance(kinds.get(name), pl.Datetime)
    )


def days(moments: pl.Series) -> pl.Series:
    """The day of each moment in the zone of the column; null outside of the years 1 to 9999."""
    kind = moments.dtype
    assert isinstance(kind, pl.Datetime)
    seconds = moments.to_physical() // _PER_SECOND[kind.time_unit]
    # beyond these years libraries fail, and nanoseconds would begin again at the other end
    limits = _YEARS if kind.time_unit != "ns" else pl.Series([-9_223_286_400, 9_223_286_400])
    return moments.set(~seconds.is_between(limits[0], limits[1]), None).dt.date()


def doubtful_days(moments: pl.Series) -> pl.Series:
    """Whether the day of each moment differs between two lists of time zones, those of polars and of DuckDB.

    Rules of zones change, and the rules of the past are corrected. The audit has the other list.
    """
    import duckdb

    kind = moments.dtype
    zone = kind.time_zone if isinstance(kind, pl.Datetime) else None
    if zone in (None, UTC):
        return pl.repeat(False, len(moments), eager=True)
    distinct = moments.drop_nulls().unique()
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        frame = pl.DataFrame({"place": range(len(distinct)), "moment": distinct, "day": days(distinct)})
        connection.register("moments", ArrowStream(frame))
        other = connection.sql(f"SELECT place FROM moments WHERE CAST(timezone('{zone}', moment) AS DATE) <> day")
        found = distinct.gather([place for (place,) in other.fetchall()])
    return moments.is_in(found.implode()).fill_null(value=False)
