"""Moments as days: a date is the date in the column's own time zone, wherever the machine is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kohort.audit.read.database import Database
from kohort.common.arrow import SCHEMA, time_zones
from kohort.errors import DataError

MOMENT = "TIMESTAMP WITH TIME ZONE"
_MOMENTS = (MOMENT, "TIMESTAMPTZ_NS")
"""The database's types of moments, which it has no zone for."""
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)", re.ASCII)


def zones_of_parquet(database: Database, file: str) -> dict[str, str]:
    """Find the zone of each column of moments of a Parquet file, empty if the file says none; others are left out.

    Parameters
    ----------
    file : str
        Its path in SQL.
    """
    held = database.rows(f"SELECT value FROM parquet_kv_metadata({file}) WHERE key = '{SCHEMA.decode()}'")
    named = time_zones(bytes(held[0][0])) if held else {}
    found = {}
    for name, kind, old, new in database.rows(
        f"SELECT name, type, coalesce(converted_type, ''), coalesce(logical_type, '') FROM parquet_schema({file})"
    ):
        counts_from_utc = "isAdjustedToUTC=1" in new or (not new and old.startswith("TIMESTAMP"))
        if (kind == "INT96" or counts_from_utc) and named.get(name) != "":
            found[name] = named.get(name, "")
    return found


def as_moment(cell: str, kind: str) -> str:
    """SQL of a moment, which an old type holds as time in UTC."""
    return cell if kind in _MOMENTS else f"timezone('UTC', {cell})"


def day_of(cell: str, kind: str, zone: str) -> str:
    """SQL of the day of a moment in a zone, which has a name or is an offset from UTC."""
    moment = as_moment(cell, kind)
    if offset := _OFFSET.fullmatch(zone):
        sign, hours, minutes = offset.groups()
        shift = int(hours) * 60 + int(minutes)
        # the database knows no plus before a number
        local = f"timezone('UTC', {moment}) + INTERVAL '{-shift if sign == '-' else shift} minutes'"
    else:
        local = f"timezone('{zone.replace(chr(39), chr(39) * 2)}', {moment})"
    return f"CAST({local} AS DATE)"


def refuse_without_zone(zones: Mapping[str, str], quasi: tuple[str, ...], place: str) -> None:
    """Refuse moments without a zone where their days are asked for."""
    DataError.refuse(
        f"{place}: column {name!r} holds moments and no time zone, so their days are not known; write it as a date."
        for name in quasi
        if zones.get(name) == ""
    )
