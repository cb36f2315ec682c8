"""Moments in Spark: their text says what moment it is, and days are not those of another zone."""

import datetime as dt

import polars as pl
import pytest

import kohort
import kohort.spark as kohort_on_spark
from kohort.errors import DataError
from kohort.release.engines.spark.files import write_folder

from .conftest import only

ZONE = "spark.sql.session.timeZone"


def policy(role):
    other = "insensitive" if role == "quasi" else "quasi"
    return kohort.Policy(privacy={"k": 2}, columns={"born": role, "n": other}, algorithm={"name": "mondrian"})


def table(spark, folder):
    moments = pl.Series([dt.datetime(1949, 5, 1, 0, 0, 0, 5), dt.datetime(2020, 1, 1)] * 2)
    frame = pl.DataFrame({"born": moments.dt.replace_time_zone("Europe/Berlin"), "n": 1})
    frame.write_parquet(folder / "in.parquet")
    return spark.read.parquet(str(folder / "in.parquet"))


@only("local")
def test_moments_are_written_with_their_offset_and_all_digits(spark, tmp_path):
    there = table(spark, tmp_path)
    write_folder(kohort_on_spark.anonymize(there, policy("insensitive")), tmp_path / "out", "csv")
    written = spark.read.option("header", "true").csv(str(tmp_path / "out"))
    assert {row[0] for row in written.collect()} == {"1949-04-30T22:00:00.000005Z", "2019-12-31T23:00:00.000000Z"}
    assert kohort_on_spark.verify(written, policy("insensitive"), original=there).passed


@only("local")
def test_a_session_in_another_zone_is_refused(spark, tmp_path):
    there = table(spark, tmp_path)
    before = spark.conf.get(ZONE)
    spark.conf.set(ZONE, "Europe/Berlin")
    try:
        with pytest.raises(DataError, match="column 'born' holds moments, and the zone of the session is not UTC"):
            kohort_on_spark.anonymize(there, policy("quasi"))
    finally:
        spark.conf.set(ZONE, before)


def test_files_in_another_zone_are_refused_before_spark_starts(tmp_path):
    frame = pl.DataFrame(
        {"born": pl.Series([dt.datetime(2020, 1, 1)] * 4).dt.replace_time_zone("Europe/Berlin"), "n": 1}
    )
    frame.write_parquet(tmp_path / "in.parquet")
    with pytest.raises(DataError, match="Spark does not read the time zone of a file"):
        kohort_on_spark.release(tmp_path / "in.parquet", policy("quasi"), tmp_path / "out.csv")
