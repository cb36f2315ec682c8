"""Tables in many files: which files, what is in them, and what is said of those that differ or are damaged."""

from __future__ import annotations

import gzip
import os

import duckdb
import polars as pl
import pytest

from kohort.audit.read.files import listed_files
from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table import read_table
from kohort.table.sources import copied, fetched, files_of, open_source, relation

SECRET = "s3cret"


def cells(source):
    """All cells, as the database reads them."""
    connection = duckdb.connect()
    try:
        sql, parameters = relation(source)
        return fetched(source, lambda: connection.execute(f"SELECT * FROM {sql}", parameters).fetchall())
    finally:
        connection.close()


def faults(folder, settings=None):
    with pytest.raises(DataError) as caught:
        cells(open_source(folder, settings))
    chain = caught.value
    while chain is not None:
        assert SECRET not in str(chain)
        chain = chain.__cause__ or chain.__context__
    return list(caught.value.faults)


def write(folder, **frames):
    for name, frame in frames.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(frame).write_parquet(path)
    return folder


# -- which files ---------------------------------------------------------------------------------


def test_a_file_a_folder_and_a_pattern(tmp_path):
    for name in ("b/2.parquet", "a/3.pq", "1.parquet", "_SUCCESS", ".1.parquet.crc", ".1.kohort-7-0123abcd.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".1.parquet.crc").write_bytes(b"crc\0\0\0\2\0")
    there = [tmp_path / name for name in ("1.parquet", "a/3.pq", "b/2.parquet")]
    assert files_of(tmp_path) == tuple(there)
    assert files_of(str(tmp_path / "**" / "*.parquet")) == (there[0], there[2])
    assert files_of(tmp_path / "[ab]") == (there[1], there[2])
    assert files_of(there[0]) == (there[0],)


def strange_folder(tmp_path):
    """A folder with one table, and much that is none."""
    folder = tmp_path / "in"
    for name in ("a.csv", "notes.md", "_new/4.csv", ".5.csv", "sub/data", "_SUCCESS/6.csv"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n1\n")
    (tmp_path / "elsewhere").mkdir()
    (folder / "linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (folder / "gone.csv").symlink_to(tmp_path / "nothing.csv")
    os.mkfifo(folder / "pipe.csv")
    return folder, (".5.csv", "_SUCCESS/6.csv", "_new/4.csv", "gone.csv", "linked", "notes.md", "pipe.csv", "sub/data")


def test_whatever_is_in_a_folder_is_read_or_refused(tmp_path):
    folder, strange = strange_folder(tmp_path)
    for list_files in (files_of, lambda source: listed_files(source, "in")):
        with pytest.raises(DataError) as caught:
            list_files(folder)
        told = [fault.partition("in: ")[2].split()[0] for fault in caught.value.faults]
        assert tuple(told) == strange
    for name in strange[:-1]:
        (folder / name).unlink()
    (folder / "sub/data").rename(folder / "sub/data.csv")
    assert files_of(folder) == listed_files(folder, "in") == (folder / "a.csv", folder / "sub/data.csv")


def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path):
    (tmp_path / "a1.csv").touch()
    (tmp_path / "a[1].csv").touch()
    assert files_of(tmp_path / "a[1].csv") == (tmp_path / "a[1].csv",)


def test_no_files_and_files_of_two_kinds(tmp_path):
    def fault(source):
        with pytest.raises(DataError) as caught:
            files_of(source)
        return str(caught.value)

    assert "the folder has no file that ends in one of .csv" in fault(tmp_path)
    assert "no file has such a name" in fault(tmp_path / "*.csv")
    (tmp_path / "a.csv").touch()
    (tmp_path / "b.parquet").touch()
    assert "has files of several kinds" in fault(tmp_path)
    (tmp_path / "c.doc").touch()
    assert "c.doc: its kind is not known" in fault(tmp_path / "*")
    with pytest.raises(DataError, match=r"no\.csv: cannot be read \(No such file"):
        open_source(tmp_path / "no.csv")


# -- Parquet -------------------------------------------------------------------------------------


def test_parquet_in_the_order_of_files_with_columns_by_name(tmp_path):
    write(tmp_path, b={"x": [3], "y": ["c"]}, a={"y": ["a", None], "x": [1, 2]})
    source = open_source(tmp_path)
    assert (source.kind, source.columns, source.types, source.rows) == (
        *("parquet", ("y", "x"), ("VARCHAR", "BIGINT")),
        3,
    )
    assert cells(source) == [("a", 1), (None, 2), ("c", 3)]


def test_patterns_in_names_add_nothing(tmp_path):
    write(tmp_path, **{"y/a[1]": {"x": [1]}, "z/a1": {"x": [2]}})
    source = open_source(tmp_path)
    assert (source.columns, cells(source)) == (("x",), [(1,), (2,)])


def test_folders_named_by_a_value_are_refused(tmp_path):
    write(tmp_path, **{"y=1/a": {"x": [1]}, "y=2/a": {"x": [2]}})
    with pytest.raises(DataError, match="are named NAME=VALUE"):
        open_source(tmp_path)


def test_all_differences_are_told_at_once(tmp_path):
    write(
        tmp_path,
        a={"x": [1], "y": ["a"], "z": [1]},
        b={"x": [1], "z": [1]},
        c={"x": [SECRET], "y": ["a"], "z": [1], "w": [1]},
    )
    (tmp_path / "d.parquet").write_bytes(b"PAR1" + SECRET.encode())
    assert faults(tmp_path) == [
        "b.parquet: lacks column 2 of a.parquet; every file needs the same columns.",
        "c.parquet: its column 4 is not in a.parquet; every file needs the same columns.",
        "c.parquet: column 1 is of type VARCHAR, and of type BIGINT in a.parquet; write it alike.",
        "d.parquet: is no readable Parquet file; check how it was written.",
    ]


def test_columns_that_cannot_be_published(tmp_path):
    write(tmp_path, a={"l": [[1]], "r": [{"a": 1}], "b": [b"x"], "t": ["x"]})
    flatten = "not one value per cell; drop or flatten it."
    assert faults(tmp_path) == [
        f"a.parquet: column 1 holds lists, {flatten}",
        f"a.parquet: column 2 holds records, {flatten}",
        f"a.parquet: column 3 holds bytes, {flatten}",
    ]


def test_names_that_differ_in_case_alone(tmp_path):
    write(tmp_path, a={"x": [1], "X": [2]})
    assert cells(open_source(tmp_path)) == [(1, 2)]
    write(tmp_path, b={"x": [1], "X": [2]})
    assert "the names of columns 1 and 2 differ in case alone" in faults(tmp_path)[0]


def test_no_rows(tmp_path):
    write(tmp_path, a={"x": [1]}, b={"x": pl.Series([], dtype=pl.Int64)})
    assert cells(open_source(tmp_path)) == [(1,)]
    (tmp_path / "a.parquet").unlink()
    assert faults(tmp_path) == ["b.parquet: has no rows; there is nothing to publish."]


def test_a_damaged_page_is_blamed_on_its_file(tmp_path):
    frame = {"x": [f"{SECRET}{number % 50:03}" for number in range(50_000)], "y": list(range(50_000))}
    write(tmp_path, a=frame, b=frame, c=frame)
    path = tmp_path / "b.parquet"
    content = bytearray(path.read_bytes())
    # the header of the first page: a flip inside of values that are not packed could be seen by nobody
    content[4:40] = bytes(255 - byte for byte in content[4:40])
    path.write_bytes(content)
    assert open_source(tmp_path).rows == 150_000  # the footer is whole
    assert faults(tmp_path) == [
        "b.parquet: cannot be read to its end; the file is damaged, so write or copy it again.",
    ]


def test_a_file_that_is_cut_off(tmp_path):
    write(tmp_path, a={"x": list(range(1000))}, b={"x": list(range(1000))})
    content = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(content[: len(content) // 2])
    assert faults(tmp_path) == ["b.parquet: is no readable Parquet file; check how it was written."]
    # its middle is gone, and its footer is there
    (tmp_path / "b.parquet").write_bytes(content[:4] + content[len(content) - 700 :])
    assert faults(tmp_path) == ["b.parquet: is no readable Parquet file; check how it was written."]


# -- CSV -----------------------------------------------------------------------------------------


def test_csv_in_many_files(tmp_path):
    (tmp_path / "2.csv").write_text('x;y\n3;""\n')
    (tmp_path / "1.csv.gz").write_bytes(gzip.compress(b'x;y\n1;"a;b"\n2;\n'))
    source = open_source(tmp_path)
    assert (source.kind, source.columns, source.types, source.rows) == ("csv", ("x", "y"), ("VARCHAR",) * 2, None)
    assert cells(source) == [("1", "a;b"), ("2", ""), ("3", "")]


def test_csv_files_that_differ(tmp_path):
    for name, text in {
        "1": "x;y\n1;2\n",
        "2": "x,y\n1,2\n",
        "3": "x;y;z\n1;2;3\n",
        "4": f"{SECRET};y\n1;2\n",
        "5": "",
    }.items():
        (tmp_path / f"{name}.csv").write_text(text)
    assert faults(tmp_path) == [
        "2.csv: has another delimiter than 1.csv; write all files alike, or give it in [input].",
        "3.csv: its header has 3 columns and that of 1.csv has 2.",
        "4.csv: its header differs from that of 1.csv in column 1; every file needs the same.",
        "5.csv: is empty; give a file with a header and rows.",
    ]


def test_csv_in_other_encodings_is_copied(tmp_path):
    texts = {"1.csv": "utf-8", "2.csv.gz": "cp1252", "3.csv": "utf-16"}
    for name, encoding in texts.items():
        content = "x;y\n1;é\n".encode(encoding)
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    source = open_source(tmp_path)
    folder = tmp_path / "private"
    folder.mkdir()
    read = copied(source, Input(), (), folder)
    assert cells(read) == [("1", "é")] * 3
    assert read.originals == source.files
    assert [path.name for path in read.files] == ["1.csv", "2.csv", "3.csv"]


def test_a_line_that_is_too_long_is_blamed_on_its_file(tmp_path):
    (tmp_path / "1.csv").write_text("x|y\n1|2\n")
    (tmp_path / "2.csv").write_text(f"x|y\n1|2\n1|{SECRET}|3\n")
    assert faults(tmp_path, Input(delimiter="|")) == [
        "2.csv, line 3: has 3 cells where the header has 2; fix the line, or give the delimiter."
    ]


def test_scarce_memory_is_no_fault_of_the_files(tmp_path):
    write(tmp_path, a={"x": [1]})

    def fail():
        raise duckdb.OutOfMemoryException(SECRET)

    with pytest.raises(DataError, match="memory: the limit is too small") as caught:
        fetched(open_source(tmp_path), fail)
    assert caught.value.__context__ is None


def test_kinds_are_those_that_a_file_read_whole_has(tmp_path):
    """The database takes durations of polars for whole numbers, and times to the nanosecond for something unknown."""
    kinds = {"long": pl.Duration("us"), "clock": pl.Time(), "moment": pl.Datetime("ns"), "text": pl.Categorical()}
    for name, kind in kinds.items():
        values = pl.Series(name, ["a"] if name == "text" else [7], dtype=None).cast(kind)
        path = tmp_path / f"{name}.parquet"
        values.to_frame().write_parquet(path)
        whole, in_parts = [], []
        for open_, found in ((read_table, whole), (open_source, in_parts)):
            try:
                open_(path, Input(), [name])
            except DataError as error:
                found += error.faults
        assert whole == in_parts
        assert bool(whole) == (name == "long")
