"""A date is the date in the column's own time zone, wherever the machine is."""

import datetime as dt
import os
import subprocess
import sys
from zoneinfo import ZoneInfo

import duckdb
import polars as pl
import pytest

import kohort
from kohort.common.arrow import SCHEMA, time_zones
from kohort.errors import DataError

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

MIDNIGHTS = [dt.datetime(1949, 5, 1), dt.datetime(1949, 5, 1), dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1)]
DAYS = ["1949-05-01", "1949-05-01", "2020-01-01", "2020-01-01"]
BERLIN = "Europe/Berlin"


def policy(role="quasi"):
    columns = {"born": role, "n": "insensitive" if role == "quasi" else "quasi"}
    return kohort.Policy(privacy={"k": 2}, columns=columns, algorithm={"seed": 1}, output={"order": "kept"})


def polars_table(zone=BERLIN, unit="us"):
    born = pl.Series("born", MIDNIGHTS, dtype=pl.Datetime(unit)).dt.replace_time_zone(zone)
    return pl.DataFrame({"born": born, "n": [1, 1, 1, 1]})


def arrow_table(zone=BERLIN):
    return polars_table(zone).to_arrow()


def pandas_objects():
    return pd.DataFrame({"born": pd.Series([day.replace(tzinfo=ZoneInfo(BERLIN)) for day in MIDNIGHTS], dtype=object)})


FRAMES = {
    "polars": polars_table,
    "milliseconds": lambda: polars_table(unit="ms"),
    "nanoseconds": lambda: polars_table(unit="ns"),
    "Kathmandu": lambda: polars_table("Asia/Kathmandu"),
    "New York": lambda: polars_table("America/New_York"),
    "UTC": lambda: polars_table("UTC"),
    "no zone": lambda: polars_table(None),
    "pyarrow": arrow_table,
    "offset of whole hours": lambda: pa.table(
        {"born": pa.array(_shifted(2), pa.timestamp("us", "+02:00")), "n": [1] * 4}
    ),
    "pandas": lambda: arrow_table().to_pandas(),
    "objects": lambda: pandas_objects().assign(n=1),
}


def _shifted(hours):
    """Midnights of a zone so many hours before UTC, as Arrow counts them."""
    return [day - dt.timedelta(hours=hours) for day in MIDNIGHTS]


def published(table, **more):
    """The dates of a release of the table."""
    found = kohort.anonymize(table, policy(), **more).table
    return list(found.to_pydict()["born"] if isinstance(found, pa.Table) else found["born"])


@pytest.mark.parametrize("name", FRAMES)
def test_a_local_midnight_is_that_day(name):
    assert published(FRAMES[name]()) == DAYS


WRITERS = {
    "polars": lambda path: polars_table().write_parquet(path),
    "pyarrow": lambda path: pq.write_table(arrow_table(), path),
    "pandas": lambda path: arrow_table().to_pandas().to_parquet(path),
    "old moments": lambda path: pq.write_table(arrow_table(), path, use_deprecated_int96_timestamps=True),
}


@pytest.mark.parametrize("memory", [None, "300MB"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_says_in_which_zone_its_days_are(tmp_path, name, memory):
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    WRITERS[name](source)
    kohort.anonymize(source, policy(), output=target, memory=memory)
    assert pl.read_csv(target)["born"].to_list() == DAYS


@pytest.mark.parametrize("memory", [None, "300MB"])
@pytest.mark.parametrize("name", ["DuckDB", "old moments", "no Arrow schema"])
def test_days_of_a_file_without_a_zone_are_not_guessed(tmp_path, name, memory):
    source = tmp_path / "in.parquet"
    if name == "DuckDB":
        duckdb.sql(
            f"COPY (SELECT TIMESTAMPTZ '1949-05-01 00:00:00+02' AS born, i AS n FROM range(4) AS r(i)) TO '{source}'"
        )
    else:
        pq.write_table(arrow_table(), source, store_schema=False, use_deprecated_int96_timestamps=name == "old moments")
    with pytest.raises(DataError, match=r"column 'born'.*no time zone, so their days are not known"):
        kohort.anonymize(source, policy(), output=tmp_path / "out.csv", memory=memory)
    release = pl.DataFrame({"born": DAYS, "n": [1, 1, 1, 1]})
    with pytest.raises(DataError, match="column 'born' holds moments and no time zone"):
        kohort.verify(release, policy(), original=source)
    # published as they are, they are no less known than before
    kohort.anonymize(source, policy("insensitive"), output=tmp_path / "out.csv", memory=memory)


@pytest.mark.parametrize("memory", [None, "300MB"])
@pytest.mark.parametrize("order", ["kept", "shuffled"])
def test_moments_are_published_with_their_offset(tmp_path, order, memory):
    """Also those of old local times, whose offset has seconds."""
    moments = [dt.datetime(1880, 1, 1), dt.datetime(2020, 7, 1, 12, 0, 0, 5), dt.datetime(2020, 1, 1), None]
    born = pl.Series("born", moments).dt.replace_time_zone(BERLIN)
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    pl.DataFrame({"born": born, "n": [1, 1, 1, 1]}).write_parquet(source)
    asked = policy("insensitive").with_changes("output", order=order, shuffle_seed=3)
    kohort.anonymize(source, asked, output=target, memory=memory)
    assert set(pl.read_csv(target, infer_schema=False)["born"]) == {
        "1880-01-01T00:00:00.000000+00:53:28",
        "2020-07-01T12:00:00.000005+02:00",
        "2020-01-01T00:00:00.000000+01:00",
        None,
    }
    again = tmp_path / "out.parquet"
    kohort.anonymize(source, asked, output=again, memory=memory)
    assert pl.read_parquet_schema(again)["born"] == pl.Datetime("us", BERLIN)


@pytest.mark.slow
def test_the_machine_has_no_part_in_it(tmp_path):
    """In a process of its own: libraries look the zone of the machine up once."""
    polars_table().write_parquet(tmp_path / "in.parquet")
    script = (
        "import kohort, polars as pl, sys\n"
        "born = pl.read_parquet('in.parquet')\n"
        "for role, other in (('quasi', 'insensitive'), ('insensitive', 'quasi')):\n"
        "    policy = kohort.Policy(privacy={'k': 2}, columns={'born': role, 'n': other}, output={'order': 'kept'})\n"
        "    for memory in (None, '300MB'):\n"
        "        kohort.anonymize('in.parquet', policy, output='out.csv', memory=memory, overwrite=True)\n"
        "        print(sorted(pl.read_csv('out.csv')['born'].unique()))\n"
        "    assert kohort.anonymize(born, policy).verdict.passed\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    days, moments = (
        str(sorted(set(DAYS))),
        str(["1949-05-01T00:00:00.000000+02:00", "2020-01-01T00:00:00.000000+01:00"]),
    )
    assert found.splitlines() == [days, days, moments, moments]


def test_files_of_one_table_have_one_zone(tmp_path):
    polars_table().write_parquet(tmp_path / "a.parquet")
    polars_table("Asia/Tokyo").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: column 'born' is in another time zone than in a\.parquet"):
        kohort.anonymize(tmp_path, policy(), output=tmp_path.parent / "zones.csv", memory="300MB")


UNKNOWN = "column 'born' has a time zone that is not in the list of zones"


def test_an_offset_without_a_name_is_refused(tmp_path):
    odd = pa.table({"born": pa.array(MIDNIGHTS, pa.timestamp("us", "+05:30")), "n": [1] * 4})
    pq.write_table(odd, tmp_path / "in.parquet")
    for table in (odd, odd.to_pandas(), tmp_path / "in.parquet"):
        with pytest.raises(DataError, match=UNKNOWN):
            kohort.anonymize(table, policy())
    with pytest.raises(DataError, match=UNKNOWN):
        kohort.anonymize(tmp_path / "in.parquet", policy(), output=tmp_path / "out.csv", memory="300MB")


@pytest.mark.parametrize("others", [ZoneInfo("Asia/Tokyo"), None])
def test_a_column_of_objects_has_one_zone(others):
    """Pyarrow would put all of them into the zone of the first."""
    born = [day.replace(tzinfo=ZoneInfo(BERLIN)) for day in MIDNIGHTS[:2]] + [
        day.replace(tzinfo=others) for day in MIDNIGHTS[2:]
    ]
    table = pd.DataFrame({"born": pd.Series(born, dtype=object), "n": 1})
    with pytest.raises(DataError, match="column 'born' mixes kinds of values or time zones"):
        kohort.anonymize(table, policy())


def test_a_gap_of_summer_time_and_years_before_1970_keep_their_days():
    """Clocks of Apia went from 29 to 31 December 2011; those of Cairo were put forward at midnight."""
    moments = [dt.datetime(2011, 12, 29, 23, 59), dt.datetime(2011, 12, 31), dt.datetime(1969, 12, 31, 23)] * 2
    born = pl.Series("born", moments).dt.replace_time_zone("Pacific/Apia")
    table = pl.DataFrame({"born": born, "n": 1})
    assert sorted(set(published(table))) == ["1969-12-31", "2011-12-29", "2011-12-31"]


def test_a_day_that_lists_of_zones_disagree_about_is_refused():
    """One list ends before 2300, and has no summer time then."""
    born = pl.Series("born", [dt.datetime(2300, 7, 1, 22, 30)] * 4).dt.replace_time_zone("UTC")
    table = pl.DataFrame({"born": born.dt.convert_time_zone(BERLIN), "n": 1})
    with pytest.raises(DataError, match="4 values are not moments whose day all lists of time zones agree on"):
        kohort.anonymize(table, policy())


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_at_the_end_of_time_are_refused(unit):
    born = pl.Series("born", [2**63 - 1, -(2**63) + 1] * 2).cast(pl.Datetime(unit, BERLIN))
    with pytest.raises(DataError, match="column 'born': 4 values are not dates of the years 1 to 9999"):
        kohort.anonymize(pl.DataFrame({"born": born, "n": 1}), policy())


def test_a_schema_is_read_as_pyarrow_writes_it(tmp_path):
    kinds = {
        "a": pa.int64(),
        "b": pa.timestamp("ns", BERLIN),
        "c": pa.timestamp("s"),
        "ü": pa.timestamp("ms", "+05:30"),
    }
    pq.write_table(pa.schema(list(kinds.items())).empty_table(), tmp_path / "in.parquet")
    held = pq.read_metadata(tmp_path / "in.parquet").metadata[SCHEMA]
    assert time_zones(held) == {"b": BERLIN, "c": "", "ü": "+05:30"}
    assert time_zones(b"") == time_zones(b"!") == time_zones(held[:40]) == {}


@pytest.mark.parametrize("kind", [None, "date"])
@pytest.mark.parametrize("wrong", ["2020-01-01 08:00:00.000000008", "2020-01-01 09:00:00.000000007", "2020-01-01"])
def test_a_moment_that_was_changed_is_found(wrong, kind):
    there = pl.Series("born", ["2020-01-01 08:00:00.000000007"] * 4).str.to_datetime(time_unit="ns")
    columns = {"born": {"role": "insensitive"} | ({"type": kind} if kind else {}), "n": "quasi"}
    asked = kohort.Policy(privacy={"k": 2}, columns=columns)
    original = pl.DataFrame({"born": there, "n": 1})
    good = pl.DataFrame({"born": ["2020-01-01T08:00:00.000000007"] * 4, "n": "1"})
    assert kohort.verify(good, asked, original=original).passed
    bad = good.with_columns(born=pl.Series([*good["born"][:3], wrong]))
    assert not kohort.verify(bad, asked, original=original).passed


@pytest.mark.promise("2.3")
@pytest.mark.parametrize("memory", [None, "300MB"])
@pytest.mark.parametrize("zone", ["+00:00", "-00:00", "+02:00", "-03:00"])
def test_whole_hours_from_utc_are_a_zone(tmp_path, zone, memory):
    """The auditor's database took no number with a plus before it, and the file was called damaged."""
    ahead = dt.timezone(dt.timedelta(hours=int(zone[:3])))
    moments = [dt.datetime(1971, 3, 1, hour, 59, tzinfo=ahead) for hour in (0, 23)]
    table = pa.table({"born": pa.array(moments, pa.timestamp("us", zone))})
    pq.write_table(table, tmp_path / "in.parquet")
    policy = kohort.Policy.build(k=2, quasi_identifiers=["born"], algorithm="fast")
    release = kohort.anonymize(tmp_path / "in.parquet", policy, output=tmp_path / "out.csv", memory=memory)
    assert release.verdict.passed
    assert (tmp_path / "out.csv").read_text() == "born\n1971-03-01\n1971-03-01\n"


@pytest.mark.promise("6.2")
@pytest.mark.parametrize("memory", [None, "300MB"])
@pytest.mark.parametrize(
    ("instant", "zone"), [(-62_135_596_800, "America/New_York"), (253_402_300_799, "Asia/Tokyo"), (-(2**42), None)]
)
def test_moments_without_a_date_are_refused_beside_quasi_identifiers(tmp_path, instant, zone, memory):
    """They were written in a way that no reader takes, or ended in a crash."""
    seen = pa.array([instant * 10**6] * 2, pa.int64()).cast(pa.timestamp("us", zone))
    pq.write_table(pa.table({"age": [1, 1], "seen": seen}), tmp_path / "in.parquet")
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], insensitive=["seen"], algorithm="fast")
    with pytest.raises(DataError, match=r"column 'seen': has moments outside of the years 1 to 9999"):
        kohort.anonymize(tmp_path / "in.parquet", policy, output=tmp_path / "out.csv", memory=memory)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet"]
