from __future__ import annotations

import gzip
from datetime import UTC, date, datetime, time, timedelta

import polars as pl
import pytest

from kohort.audit.read.database import Database
from kohort.audit.read.load import load
from kohort.errors import DataError
from kohort.policy import Policy

NAMES = ("age", "sex", "disease")


def policy(**input_):
    return Policy.build(k=2, quasi_identifiers=["age", "sex"], sensitive=["disease"], input=input_)


def cells(source, name="release", wanted=NAMES, **input_):
    with Database() as database:
        table = load(database, name, source, policy(**input_), wanted)
        listed = ", ".join(table.columns.values())
        return table.header, database.rows(f"SELECT {listed} FROM {name} ORDER BY rowid")


PLAIN = (NAMES, [("20", "F", "Flu"), ("[20 - 29]", "M", None)])


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_delimiters(write, delimiter):
    lines = [delimiter.join(row) for row in (NAMES, ("20", "F", "Flu"), ("[20 - 29]", "M", ""))]
    assert cells(write(*lines)) == PLAIN


def test_delimiters_inside_values_do_not_mislead(write):
    path = write("age;sex;disease", "[20, 25[;F;a, b", '"[20; 25[";F;c, d, e')
    assert cells(path)[1] == [("[20, 25[", "F", "a, b"), ("[20; 25[", "F", "c, d, e")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_mark(tmp_path, end, mark):
    path = tmp_path / "r.csv"
    path.write_bytes(mark + end.join(["age;sex;disease", "20;F;Flu", '[20 - 29];M;""']).encode())
    assert cells(path) == PLAIN


def test_quotes_and_line_breaks_inside_cells(write):
    assert cells(write('age;"sex";disease', '20;"say ""x""";"two\nlines"'))[1] == [("20", 'say "x"', "two\nlines")]


def test_the_kind_of_file_is_told_by_its_content(tmp_path):
    packed = tmp_path / "release.tmp"
    packed.write_bytes(gzip.compress(b"age;sex;disease\n20;F;Flu\n[20 - 29];M;\n"))
    assert cells(packed) == PLAIN
    parquet = tmp_path / "release.other"
    pl.DataFrame({"age": ["20", "[20 - 29]"], "sex": ["F", "M"], "disease": ["Flu", None]}).write_parquet(parquet)
    assert cells(parquet) == PLAIN


def test_patterns_in_file_names_are_names(tmp_path):
    (tmp_path / "r1.csv").write_text("age;sex;disease\n1;1;1\n")
    path = tmp_path / "r[1]*?.csv"
    path.write_text("age;sex;disease\n20;F;Flu\n[20 - 29];M;\n")
    assert cells(path) == PLAIN


def test_a_folder_that_looks_like_a_partition_adds_no_column(tmp_path):
    folder = tmp_path / "age=7"
    folder.mkdir()
    pl.DataFrame({"sex": ["F"]}).write_parquet(folder / "r.parquet")
    assert cells(folder / "r.parquet") == (("sex",), [("F",)])


def test_names_that_differ_in_case_alone(write, tmp_path):
    assert cells(write("age;AGE;sex", "1;2;3"), wanted=("age", "AGE", "sex"))[1] == [("1", "2", "3")]
    pl.DataFrame({"age": [1], "AGE": [2]}).write_parquet(tmp_path / "r.parquet")
    assert cells(tmp_path / "r.parquet", wanted=("AGE",)) == (("age", "AGE"), [("2",)])


def test_typed_columns_become_text_and_nested_ones_outside_the_policy_do_not_matter():
    frame = pl.DataFrame(
        {
            "inside": [{"a": [1]}, {"a": [2]}],
            "age": [2**53 + 1, None],
            "sex": pl.Series(["F", "M"], dtype=pl.Categorical),
            "disease": [date(2024, 1, 31), None],
        }
    )
    expected = [(str(2**53 + 1), "F", "2024-01-31"), (None, "M", None)]
    assert cells(frame) == (("inside", *NAMES), expected)


def test_every_type_of_polars_has_a_text(tmp_path):
    series = [
        pl.Series([True, None]),
        pl.Series([1.5, float("nan")]),
        pl.Series([0.1, None], dtype=pl.Float32),
        pl.Series([2**64 - 1, None], dtype=pl.UInt64),
        pl.Series([datetime(2024, 1, 31, 12), None]),
        pl.Series([datetime(2024, 1, 31, 12, tzinfo=UTC), None]),
        pl.Series([time(12, 30), None]),
        pl.Series([timedelta(days=1), None]),
        pl.Series(["1.50", None]).cast(pl.Decimal(10, 2)),
        pl.Series([b"x", None]),
        pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
        pl.Series([None, None]),
    ]
    names = tuple(f"x{i}" for i in range(len(series)))
    frame = pl.DataFrame(dict(zip(names, series, strict=True)))
    expected = [
        (
            *("true", "1.5", "0.1", str(2**64 - 1), "2024-01-31 12:00:00", "2024-01-31 12:00:00+00"),
            *("12:30:00", "24:00:00", "1.50", "x", "a", None),
        ),
        (None,) * 12,
    ]
    assert cells(frame, wanted=names)[1] == expected
    with_words = frame.drop("x7")  # Parquet has no durations
    with_words.write_parquet(tmp_path / "r.parquet")
    with pytest.raises(DataError, match="a dictionary, which may hold values that no row has"):
        cells(tmp_path / "r.parquet", wanted=names)
    with_words.cast({"x10": pl.String}).write_parquet(tmp_path / "r.parquet")
    rows = cells(tmp_path / "r.parquet", wanted=names)[1]
    assert rows == [(*row[:7], *row[8:]) for row in expected]


def test_nested_columns_of_parquet_are_counted_once(tmp_path):
    frame = pl.DataFrame({"inside": [{"a": [1], "b": {"c": 2}}], "age": [1], "sex": ["F"], "disease": [0.1]})
    frame.write_parquet(tmp_path / "r.parquet")
    assert cells(tmp_path / "r.parquet") == (("inside", *NAMES), [("1", "F", "0.1")])


def test_missing_texts(write):
    path = write("age;sex;disease", "?;F;NA", '?;*;""')
    assert cells(path, missing=["?", "*"])[1] == [(None, "F", "NA"), (None, None, None)]


def test_the_original_is_read_as_the_policy_says(tmp_path):
    path = tmp_path / "original.csv"
    path.write_bytes("age|sex|disease\n20|'F|G'|é\n".encode("cp1252"))
    header, rows = cells(path, "original", delimiter="|", quote="'", encoding="windows-1252")
    assert (header, rows) == (NAMES, [("20", "F|G", "é")])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_of_an_original_is_found(tmp_path, encoding):
    path = tmp_path / "original.csv"
    path.write_bytes("age;sex;disease\r\n20;F;é\r\n\r\n21;;x\r\n".encode(encoding))
    assert cells(path, "original")[1] == [("20", "F", "é"), ("21", None, "x")]


SECRET = "s3cret"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "the file is empty; it needs a header and rows."),
        (b"\n\n", "the file is empty; it needs a header and rows."),
        (b"\nage;sex;disease\n1;2;3\n", "the first line is empty; it must be the header."),
        (
            b"age;sex;disease\n1;2;3\n1;s3cret;3;4\n",
            "line 3 does not have as many cells as the header; correct the line.",
        ),
        (
            b"age;sex;disease\n1;2;3\n1;s3cret\n",
            "line 3 does not have as many cells as the header; correct the line.",
        ),
        (
            b'age;sex;disease\n1;2;3\n1;"s3cret;3\n4;5;6\n',
            "line 3 opens a quote that is never closed; correct the line.",
        ),
        (
            b"age;sex;disease\r\n1;2;3\n1;s3cret;4\r\n",
            "line 2 has another line end than the header (LF, CRLF or CR); save the file with one kind.",
        ),
        (b"age;sex;disease\n1;2;3\n1;s3cret\xe9;3\n", "it is not utf-8 text (line 3); save it as UTF-8."),
        (b"age;sex;age;age\n1;2;3;4\n", "'age' heads more than one column; give each column its own name."),
        (b"PAR1s3cret", "it cannot be read as Parquet; the file is damaged."),
        (b"\x1f\x8bs3cret", "cannot be unpacked; the file is damaged."),
        (gzip.compress(b"age;sex;disease\n1;s3cret;3\n", mtime=0)[:-6], "cannot be unpacked; the file is damaged."),
    ],
    ids=[
        *("empty", "blank", "blank first", "long", "short", "open quote", "mixed line ends", "not utf-8"),
        *("name twice", "no parquet", "no gzip", "cut gzip"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, content, fault):
    path = tmp_path / "r.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        cells(path)
    assert caught.value.faults == (f"release r.csv: {fault}",)
    chain, seen = caught.value, []
    while chain is not None:
        seen.append(str(chain))
        chain = chain.__cause__ or chain.__context__
    assert SECRET not in "".join(seen)


def test_original_faults_outside_utf8(tmp_path):
    path = tmp_path / "o.csv"
    for content, fault in [
        ("age;sex\n1;é;3\n", "line 2 does not have as many cells as the header; correct the line."),
        ('age;sex\n1;"é\n', "line 2 opens a quote that is never closed; correct the line."),
    ]:
        path.write_bytes(content.encode("cp1252"))
        with pytest.raises(DataError) as caught:
            cells(path, "original")
        assert caught.value.faults == (f"original o.csv: {fault}",)
    path.write_bytes(b"age;sex\n1;\x81\n")
    with pytest.raises(DataError, match="not UTF-8, UTF-16 or Windows-1252 text \\(line 2\\)"):
        cells(path, "original")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"release no\.csv: cannot be opened \(no such file or directory\)"):
        cells(tmp_path / "no.csv")
    with pytest.raises(DataError, match="cannot be opened"):
        cells(tmp_path)


def test_what_is_no_table():
    with pytest.raises(DataError, match="give a path or a polars DataFrame"):
        cells(42)
    with pytest.raises(DataError, match="column 'age' holds lists or records"):
        cells(pl.DataFrame({"age": [[1]], "sex": ["F"]}))


@pytest.mark.parametrize("most", [0, 1 << 25])
def test_a_file_may_end_where_a_piece_of_it_does(write, monkeypatch, most):
    monkeypatch.setattr("kohort.audit.read.csv._PIECE", most)
    lines = [";".join(row) for row in (NAMES, ("20", "F", "Flu"), ("[20 - 29]", "M", ""))]
    assert cells(write(*lines)) == PLAIN
    assert cells(write(";".join(NAMES)))[1] == []
