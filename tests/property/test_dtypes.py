"""Columns of every type in every role: a verified release, or a refusal before any work; nothing else."""

import datetime as dt
import random
from contextlib import suppress
from decimal import Decimal

import polars as pl
import pytest

import kohort
from kohort.errors import DataError, PolicyError

ROWS = 10
DAYS = [
    dt.datetime(1, 1, 2),
    dt.datetime(1880, 1, 1),
    dt.datetime(1969, 12, 31, 23),
    dt.datetime(2020, 7, 1, 0, 0, 0, 5),
]
ZONES = ["Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "UTC", None]
LONG = ["0.12345678901234567890", "0.12345678901234567891", "12345678901234567890.5", "5", "1e-7"]
VALUES = {
    pl.Float32: [0.1, 1 / 3, -0.0, 0.0, 1e-40, 3.4e38, 16777217.0, float("nan")],
    pl.Float64: [0.1, 1 / 3, -0.0, 0.0, 5e-324, 1e300, 1e22, 0.1 + 0.2, float("nan")],
    pl.Float16: [0.1, 2.5, 100.0],
    pl.Int8: [-128, 127, 0],
    pl.UInt16: [0, 65535, 7],
    pl.UInt64: [2**63 - 1, 2**53 + 1, 2**53, 5],
    pl.Int64: [2**63 - 1, -(2**63), 2**53 + 1, 2**53],
    pl.Int128: [2**70, 1],
    pl.Decimal(10, 2): [Decimal("1.50"), Decimal("-0.01"), Decimal("99.99")],
    pl.Decimal(38, 10): [Decimal("1234567890123456789012345678.0123456789"), Decimal("1E-10"), Decimal(0)],
    pl.Categorical: ["a", "b", "ü"],
    pl.Enum(["a", "b", "unused"]): ["a", "b"],
    pl.Boolean: [True, False],
    pl.Duration: [dt.timedelta(1), dt.timedelta(0, 1)],
    pl.Time: [dt.time(1, 2, 3), dt.time(23, 59, 59, 999_999)],
    pl.Date: [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31)],
    pl.Binary: [b"a", b"b"],
    pl.Null: [None],
    pl.String: ["x", "zü", "1", "2020-01-01T00:00:00+02:00"],
}


def moments(rng):
    unit, zone = rng.choice(["ms", "us", "ns"]), rng.choice(ZONES)
    some = DAYS if unit != "ns" else DAYS[1:]
    return pl.Series([rng.choice(some) for _ in range(ROWS)], dtype=pl.Datetime(unit)).dt.replace_time_zone(zone)


def column(rng):
    """A column of a random type, some of its values missing."""
    kind = rng.choice([*VALUES, "moments", "moments", "long"])
    if kind == "moments":
        return moments(rng)
    if kind == "long":
        return pl.Series([rng.choice(LONG) for _ in range(ROWS)])
    values = [rng.choice(VALUES[kind]) for _ in range(ROWS)]
    if rng.random() < 0.3:
        values[rng.randrange(ROWS)] = None
    if kind == pl.Float16:
        return pl.Series(values, dtype=pl.Float32).cast(pl.Float16)
    return pl.Series(values, dtype=kind)


@pytest.mark.parametrize("way", ["frame", "csv", "parquet", "disk"])
@pytest.mark.parametrize("seed", range(6))
def test_every_type_is_released_or_refused(tmp_path, seed, way):
    """Whatever is raised beside the two refusals ends the test: a failed verification, or a crash."""
    rng = random.Random(f"{seed}{way}")
    for number in range(4):
        table = pl.DataFrame({"v": column(rng), "w": [rng.randrange(3) for _ in range(ROWS)]})
        role = rng.choice(["quasi", "quasi", "insensitive", "sensitive"])
        policy = kohort.Policy(
            privacy={"k": 2, "missing": rng.choice(["own-value", "wildcard"])},
            algorithm={"name": "mondrian", "bound_effort": 0},
            columns={"v": role, "w": "insensitive" if role == "quasi" else "quasi"},
            output={"order": rng.choice(["kept", "shuffled"])},
        )
        source, target = (
            tmp_path / f"in{number}.parquet",
            tmp_path / f"out{number}.{'csv' if way == 'csv' else 'parquet'}",
        )
        table.write_parquet(source)
        with suppress(DataError, PolicyError):
            if way == "frame":
                assert kohort.anonymize(table, policy).verdict.passed
            else:
                memory = "300MB" if way == "disk" else None
                assert kohort.anonymize(source, policy, output=target, memory=memory, overwrite=True).verdict.passed
                assert target.exists()
