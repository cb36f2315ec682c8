"""Every kind of file as source and as target: what is read is what was written, cell by cell."""

from datetime import date, datetime
from itertools import islice

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pytest

import kohort
from kohort.errors import DataError
from kohort.table import read_table
from kohort.table.formats import FORMATS

WRITTEN = [
    ".csv",
    ".csv.gz",
    ".csv.zst",
    ".parquet",
    *(end for kind in FORMATS.values() for end in (kind.writes or kind.suffixes)),
]


def people(rows=240):
    """Texts that are hard to write, numbers, days, moments, truth values, and missing ones of each."""
    hard = ["00123", "=1+1", "a,b", 'say "ah"', "Zoë", " outer ", "1e5", "#N/A", "two\nlines", "http://x.example"]
    base = {
        "age": [20 + row % 50 for row in range(rows)],
        "sex": ["fm"[row % 2] for row in range(rows)],
        "born": [date(1930 + row % 60, 1 + row % 12, 1 + row % 28) for row in range(rows)],
        "score": [None if row % 7 == 0 else row / 8 for row in range(rows)],
        "text": [None if row % 11 == 0 else hard[row % len(hard)] for row in range(rows)],
        "seen": [datetime(2024, 1, 1 + row % 28, row % 24, row % 60, 7) for row in range(rows)],
        "smokes": [None if row % 5 == 0 else row % 2 == 0 for row in range(rows)],
        "count": [None if row % 13 == 0 else row * 1_000_003 for row in range(rows)],
    }
    return pl.DataFrame(base)


def policy(**more):
    return kohort.Policy.build(
        k=4,
        quasi_identifiers=["age", "sex", "born"],
        sensitive=["score"],
        algorithm="mondrian",
        insensitive=["text", "seen", "smokes", "count"],
        seed=1,
        **more,
    )


def fitting(frame, suffix):
    """The table without what a kind cannot hold: it is refused, which other tests see."""
    if suffix in (".sav", ".zsav", ".dta", ".xpt"):
        return frame.with_columns(pl.col("text").str.strip_chars_end(), pl.col("smokes").cast(pl.String))
    return frame


def stored(frame, path):
    """The table in a file, as the kind is written by kohort itself."""
    from kohort.table import write_table
    from kohort.table.read import file_kind

    write_table(frame, path, file_kind(path), None, neutralise=False)
    return path


def as_texts(frame):
    """Cells as one text for each value, so that kinds with and without types can be compared."""

    def text(cell):
        match cell:
            case None | "":
                return None
            case bool():
                return str(cell).lower()
            case int() | float():
                return repr(float(cell))
            case datetime():
                return cell.isoformat(" ")
            case str() if cell[:5].count("-") == 1 and cell[:4].isdigit() and len(cell) > 10:
                return datetime.fromisoformat(cell).isoformat(" ")
            case _:
                try:
                    return repr(float(cell)) if cell != "00123" and cell != "1e5" else cell
                except (TypeError, ValueError):
                    return str(cell)

    return [[text(cell) for cell in row] for row in frame.rows()]


@pytest.mark.parametrize("suffix", WRITTEN)
def test_what_is_read_is_what_was_written(tmp_path, suffix):
    frame = fitting(people(), suffix)
    assert as_texts(read_table(stored(frame, tmp_path / f"people{suffix}")).frame) == as_texts(frame)


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_release_from_each_kind_into_each_kind_is_verified(tmp_path, suffix):
    source = stored(fitting(people(), suffix), tmp_path / f"people{suffix}")
    out = tmp_path / f"release{suffix}"
    made = kohort.anonymize(source, policy(), output=out)
    assert made.verdict.passed
    assert kohort.verify(out, policy(), original=source).passed
    # the release as the kind gives it back is the release as it was made
    assert as_texts(read_table(out).frame) == as_texts(made.table)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"people{suffix}", f"release{suffix}"]


@pytest.mark.parametrize("suffix", WRITTEN)
def test_the_original_is_read_a_second_time_by_the_auditor(tmp_path, suffix):
    """A cell of the original that is not the maker's is seen: the auditor reads the file by itself."""
    source = stored(fitting(people(), suffix), tmp_path / f"people{suffix}")
    out = tmp_path / f"release{suffix}"
    kohort.anonymize(source, policy(), output=out)
    other = fitting(people(), suffix).with_columns(pl.col("count") + 1)
    changed = stored(other, tmp_path / f"other{suffix}")
    verdict = kohort.verify(out, policy(), original=changed)
    assert not verdict.passed


@pytest.mark.promise("2.3", "6.2")
@pytest.mark.parametrize("zone", ["+05:30", "Nowhere/Land"])
def test_a_zone_that_is_not_known_is_no_empty_file(tmp_path, zone, capfd):
    """The reader panicked in a thread of its own, and the file had "no rows"."""
    seen = pa.array([datetime(2020, 1, 1, 22)] * 4, pa.timestamp("us", zone))
    feather.write_feather(pa.table({"age": [1, 1, 1, 1], "seen": seen}), tmp_path / "in.feather")
    with pytest.raises(DataError, match=r"in\.feather: a column has a time zone that is not in the list"):
        read_table(tmp_path / "in.feather")
    assert "panicked" not in capfd.readouterr().err


def test_a_reader_that_stops_early_is_a_fault(tmp_path, monkeypatch):
    """Batches end, too, when the thread that they come from has failed."""
    plain = pl.LazyFrame.collect_batches
    people().write_ipc(tmp_path / "in.feather", record_batch_size=100)
    assert read_table(tmp_path / "in.feather").frame.height == 240
    monkeypatch.setattr(pl.LazyFrame, "collect_batches", lambda rows, **how: islice(plain(rows.head(100), **how), 1))
    with pytest.raises(DataError, match=r"in\.feather: is no readable Feather file"):
        read_table(tmp_path / "in.feather")
