"""What other readers tell apart in files of other kinds is no class, and nothing is handed over beside the rows."""

import datetime as dt
import json
import sqlite3
import struct
from decimal import Decimal

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pyreadstat
import pytest
from openpyxl.styles import PatternFill
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

import kohort
from kohort.errors import DataError

ASKED = kohort.Policy.build(k=2, quasi_identifiers=["age", "area"], sensitive=["ill"])
TWO = "column 'age' has the same value in two kinds or formats"
MORE = "more than one plain sheet"


def rows(first, second):
    return [{"age": age, "area": "A", "ill": "x"} for age in (first, second)]


def verified(path):
    return kohort.verify(path, ASKED).passed


def as_lines(path, records):
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return path


def as_sheet(path, records, change=None):
    book = openpyxl.Workbook()
    book.active.append(list(records[0]))
    for one in records:
        book.active.append(list(one.values()))
    if change is not None:
        change(book, book.active)
    book.save(path)
    return path


def as_sqlite(path, records):
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE t (age, area, ill)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", [tuple(one.values()) for one in records])
    base.close()
    return f"sqlite:///{path}#t"


@pytest.mark.promise("3.3")
@pytest.mark.parametrize("pair", [(1, "1"), (True, "true"), (1.5, "1.5")])
@pytest.mark.parametrize("write", [as_lines, as_sheet, as_sqlite], ids=["jsonl", "xlsx", "sqlite"])
def test_a_number_is_no_text(tmp_path, write, pair):
    name = {as_lines: "r.jsonl", as_sheet: "r.xlsx", as_sqlite: "r.db"}[write]
    assert verified(write(tmp_path / name, rows(pair[1], pair[1])))
    if write is as_sqlite and pair[0] is True:
        return  # where truth values are numbers
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match=TWO):
        verified(write(tmp_path / name, rows(*pair)))


@pytest.mark.promise("3.3")
def test_cells_of_several_files_are_of_one_kind(tmp_path):
    as_lines(tmp_path / "a.jsonl", rows(1, 1))
    as_lines(tmp_path / "b.jsonl", rows("1", "1"))
    with pytest.raises(DataError, match=TWO):
        verified(tmp_path)


@pytest.mark.promise("3.3")
def test_numbers_of_sqlite_are_read_to_their_last_digit(tmp_path):
    assert not verified(as_sqlite(tmp_path / "r.db", rows(0.3, 0.1 + 0.2)))
    assert verified(as_sqlite(tmp_path / "s.db", rows(0.1 + 0.2, 0.1 + 0.2)))


def test_a_release_with_all_digits_goes_to_sqlite(tmp_path):
    costs = [0.1 + 0.2, 1e22 + 4e6, 5e-324, -1 / 3]
    base = as_sqlite(tmp_path / "r.db", rows(1, 1))
    table = pl.DataFrame({"age": [1] * 4, "area": ["A"] * 4, "ill": costs})
    target = base.replace("#t", "#made")
    assert kohort.anonymize(table, ASKED, output=target).verdict.passed
    assert kohort.verify(target, ASKED, original=table).passed


def test_half_a_character_is_no_text(tmp_path):
    for text in ('"area": "\\ud800"', '"\\udfff": 1, "area": "A"'):
        (tmp_path / "r.jsonl").write_text(f'{{"age": 1, {text}, "ill": "x"}}\n')
        with pytest.raises(DataError, match="line 1 is no JSON object"):
            verified(tmp_path / "r.jsonl")


def filled(_, sheet):
    sheet["A2"].fill = PatternFill("solid", fgColor="FF0000")


def formatted(_, sheet):
    sheet["A2"].number_format = "0.00"


@pytest.mark.promise("3.3")
@pytest.mark.parametrize("change", [filled, formatted])
def test_a_cell_that_looks_different_is_told_apart(tmp_path, change):
    with pytest.raises(DataError, match=TWO):
        verified(as_sheet(tmp_path / "r.xlsx", rows(1, 1), change))


def test_a_day_is_no_text(tmp_path):
    with pytest.raises(DataError, match=TWO):
        verified(as_sheet(tmp_path / "r.xlsx", rows(dt.date(2020, 1, 2), "2020-01-02")))


def hidden(_, sheet):
    sheet.row_dimensions[2].hidden = True


def named(book, _):
    book.defined_names["Ann"] = DefinedName("Ann", attr_text="Sheet!$A$2")


def listed(_, sheet):
    choice = DataValidation(type="list", formula1='"Ann,Bob"')
    sheet.add_data_validation(choice)
    choice.add("A2")


def headed(_, sheet):
    sheet.oddHeader.center.text = "Ann"


def titled(book, _):
    book.properties.title = "Ann"


@pytest.mark.parametrize("change", [hidden, named, listed, headed, titled])
def test_a_workbook_has_nothing_beside_its_cells(tmp_path, change):
    with pytest.raises(DataError, match=MORE) as refused:
        verified(as_sheet(tmp_path / "r.xlsx", rows(1, 1), change))
    assert "Ann" not in str(refused.value)


@pytest.mark.parametrize("metadata", [{"note": "Ann"}, {"pandas": json.dumps({"attributes": {"who": "Ann"}})}])
def test_parquet_has_nothing_beside_its_rows(tmp_path, metadata):
    table = pa.table({"age": [1, 1], "area": ["A", "A"], "ill": ["x", "y"]})
    path = tmp_path / "r.parquet"
    table.to_pandas().to_parquet(path)
    assert verified(path)
    pq.write_table(table.replace_schema_metadata(metadata), path)
    with pytest.raises(DataError, match="metadata that may hold more than the rows"):
        verified(path)
    asked = kohort.Policy.build(k=2, quasi_identifiers=["age", "area"], sensitive=["ill"], seed=1)
    assert kohort.anonymize(path, asked, output=tmp_path / "o.parquet").verdict.passed


@pytest.mark.promise("3.3")
def test_kinds_of_missing_values_are_told_apart(tmp_path):
    table = pl.DataFrame({"age": [1.5, 1.5, None, None], "area": ["A"] * 4, "ill": ["x"] * 4}).to_pandas()
    path = tmp_path / "r.dta"
    table.to_stata(path, write_index=False)
    assert verified(path)
    missing, other = (struct.pack("<Q", 0x7FE0000000000000 + (number << 40)) for number in (0, 1))
    content = path.read_bytes()
    assert missing in content
    path.write_bytes(content.replace(missing, other, 1))
    with pytest.raises(DataError, match="several kinds of missing values"):
        verified(path)
    path = tmp_path / "r.sav"
    pyreadstat.write_sav(table.fillna(9.0), str(path))
    assert verified(path)
    pyreadstat.write_sav(table.fillna(9.0), str(path), missing_ranges={"age": [9.0]})
    with pytest.raises(DataError, match="several kinds of missing values"):
        verified(path)


@pytest.mark.promise("3.3")
def test_folders_that_are_named_by_values_are_refused(tmp_path):
    for number in (1, 2):
        (tmp_path / "t" / f"who={number}").mkdir(parents=True)
        (tmp_path / "t" / f"who={number}" / "a.csv").write_text("age,area,ill\n1,A,x\n")
    with pytest.raises(DataError, match="named NAME=VALUE") as refused:
        verified(tmp_path / "t")
    assert "who" not in str(refused.value)
    with pytest.raises(DataError, match="named NAME=VALUE"):
        kohort.anonymize(tmp_path / "t", ASKED)


def test_a_blank_beside_a_number_is_a_change(tmp_path):
    table = pl.DataFrame({"age": ["1", "1"], "area": ["A", "A"], "ill": ["7", "8"]})
    assert kohort.verify(table, ASKED, original=table).passed
    for changed in ("7 ", " 7", "7\u00a0"):
        other = table.with_columns(ill=pl.Series([changed, "8"]))
        assert kohort.verify(other, ASKED, original=table).check("values").passed is False


# -- ends of intervals, and words beside the cells -----------------------------------------------------------

WITH_ENDS = kohort.Policy.build(
    k=2, quasi_identifiers=["age"], sensitive=["ill"], types={"age": "integer"}, output={"bounds": True}
)


@pytest.mark.promise("3.3")
@pytest.mark.parametrize("bound", ["age_lo", "age_hi", "age_mid"])
@pytest.mark.parametrize("odd", ['""', '"20"'])
def test_rows_that_one_interval_makes_alike_have_ends_that_are_written_alike(tmp_path, bound, odd):
    """Each was verified: a reader that distinguishes null and an empty text, or quotes, had one row of its own."""
    ends = ["age_lo", "age_hi", "age_mid"]
    plain = "" if odd == '""' else "20"

    def judged(cell):
        first = [cell if name == bound else plain for name in ends]
        table = [["age", *ends, "ill"], [plain, *first, "a"], [plain, plain, plain, plain, "b"]]
        (tmp_path / "r.csv").write_text("".join(",".join(row) + "\n" for row in table))
        return kohort.verify(tmp_path / "r.csv", WITH_ENDS).passed

    assert judged(plain)
    if odd == '""':
        assert not judged(odd)
        return
    with pytest.raises(DataError, match="with and without quotes"):
        judged(odd)


@pytest.mark.promise("3.3")
@pytest.mark.parametrize("write", [as_lines, as_sheet, as_sqlite], ids=["jsonl", "xlsx", "sqlite"])
def test_an_end_that_is_a_number_is_no_text(tmp_path, write):
    name = {as_lines: "r.jsonl", as_sheet: "r.xlsx", as_sqlite: "r.db"}[write]
    both = [{"age": "20", "age_lo": low, "age_hi": 20, "age_mid": 20, "ill": "x"} for low in (20, "20")]
    if write is as_sqlite:
        with sqlite3.connect(tmp_path / name) as base:
            base.execute("CREATE TABLE t (age, age_lo, age_hi, age_mid, ill)")
            base.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [tuple(one.values()) for one in both])
        base.close()
        place = f"sqlite:///{tmp_path / name}#t"
    else:
        place = write(tmp_path / name, both)
    with pytest.raises(DataError, match="column 'age_lo' has the same value in two kinds or formats"):
        kohort.verify(place, WITH_ENDS)


def test_a_formula_is_no_value(tmp_path):
    """Its text was compared with the original, and every reader shows what it comes to."""
    path = as_sheet(tmp_path / "r.xlsx", [one | {"ill": "=1+1"} for one in rows(1, 1)])
    with pytest.raises(DataError, match="column 3 has a formula or an error") as refused:
        verified(path)
    assert "1+1" not in str(refused.value)


@pytest.mark.parametrize("name", ["r.feather", "r.parquet"])
def test_a_column_has_no_words_beside_its_cells(tmp_path, name):
    """Metadata of the file were looked at, and those of its columns were not."""
    plain = pa.table({"age": ["1", "1"], "area": ["A", "A"], "ill": ["x", "y"]})
    noted = plain.cast(pa.schema([field.with_metadata({"was": "Ann"}) for field in plain.schema]))
    write = pq.write_table if name.endswith("parquet") else feather.write_feather
    write(plain, tmp_path / name)
    assert verified(tmp_path / name)
    write(noted, tmp_path / name)
    with pytest.raises(DataError, match="metadata"):
        verified(tmp_path / name)


def test_what_spark_notes_of_a_column_is_more_than_its_type(tmp_path):
    table = pa.table({"age": ["1", "1"], "area": ["A", "A"], "ill": ["x", "y"]})
    key = "org.apache.spark.sql.parquet.row.metadata"
    for metadata, passed in (({}, True), ({"ml_attr": {"vals": ["Ann"]}}, False)):
        fields = [
            {"name": name, "type": "string", "nullable": True, "metadata": metadata} for name in table.schema.names
        ]
        noted = {key: json.dumps({"type": "struct", "fields": fields})}
        pq.write_table(table.replace_schema_metadata(noted), tmp_path / "r.parquet")
        if passed:
            assert verified(tmp_path / "r.parquet")
            continue
        with pytest.raises(DataError, match="metadata that may hold more"):
            verified(tmp_path / "r.parquet")


WRITERS = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}
OF_SPSS = {
    "title": {"file_label": "Ann"},
    "notes": {"note": ["Ann"]},
    "unused": {"variable_value_labels": {"ill": {1: "x", 2: "y", 3: "Ann"}}},
    "some": {"variable_value_labels": {"ill": {1: "Ann"}}},
    "twice": {"variable_value_labels": {"ill": {1: "Ann", 2: "Ann"}}},
}
WORDS = {".sav": OF_SPSS, ".dta": {what: words for what, words in OF_SPSS.items() if what != "notes"}}
WORDS[".xpt"] = {"title": OF_SPSS["title"]}


@pytest.mark.parametrize(("suffix", "what"), [(suffix, what) for suffix, some in WORDS.items() for what in some])
def test_files_of_statistics_have_no_words_beside_their_cells(tmp_path, suffix, what):
    """Value labels that no row has, titles and notes were handed over, and nobody had looked at them."""
    table = pl.DataFrame({"age": ["1", "1"], "area": ["A", "A"], "ill": [1, 2]}).to_pandas()
    path = tmp_path / f"r{suffix}"
    WRITERS[suffix](table, str(path), column_labels={"ill": "what they had"})
    assert verified(path)
    WRITERS[suffix](table, str(path), **WORDS[suffix][what])
    with pytest.raises(DataError, match="notes, a title, or labels") as refused:
        verified(path)
    assert "Ann" not in str(refused.value)


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labels_of_all_values_are_the_cells(tmp_path, suffix):
    path = tmp_path / f"r{suffix}"
    table = pl.DataFrame({"age": ["1", "1"], "area": ["A", "A"], "ill": [1, 2]}).to_pandas()
    WRITERS[suffix](table, str(path), variable_value_labels={"ill": {1: "x", 2: "y"}})
    assert verified(path)


# -- moments in the place of days, and buckets --------------------------------------------------------------------

DATED = kohort.Policy.build(k=2, quasi_identifiers=["born"], sensitive=["ill"], types={"born": "date"})


@pytest.mark.promise("1.1", "2.4", "3.3")
@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_moments_of_one_day_are_not_alike(tmp_path, zone, unit):
    """They were taken for their day in the zone of their column: every row had one of its own, and k = 2 held."""
    moments = [dt.datetime(2020, 1, 1, hour) for hour in (1, 2)]
    table = pa.table({"born": pa.array(moments, pa.timestamp(unit, zone)), "ill": ["x", "y"]})
    pq.write_table(table, tmp_path / "r.parquet")
    feather.write_feather(table, tmp_path / "r.feather")
    original = pl.DataFrame({"born": ["2020-01-01", "2020-01-01"], "ill": ["x", "y"]})
    for release in (tmp_path / "r.parquet", tmp_path / "r.feather", pl.DataFrame(pl.from_arrow(table))):
        for memory in (None, 1 << 30):
            verdict = kohort.verify(release, DATED, original=original, memory=memory)
            assert not {check.name: check for check in verdict.checks}["domain"].passed
            assert not verdict.passed
    days = pa.table({"born": [dt.date(2020, 1, 1)] * 2, "ill": ["x", "y"]})
    pq.write_table(days, tmp_path / "r.parquet")
    assert kohort.verify(tmp_path / "r.parquet", DATED, original=original).passed


@pytest.mark.promise("3.3")
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_the_numbers_of_buckets_are_written_alike(tmp_path, suffix):
    """Half of a bucket as number, half as text: who tells them apart knows which sensitive value is whose."""
    plain = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], algorithm="anatomy")
    asked = plain.with_changes("privacy", anonymity="buckets")
    for odd in (False, True):
        links = ["7", '"7"' if odd else "7"]
        quasi = [f'{{"age": "{age}", "bucket": {link}}}' for age, link in enumerate(links)]
        values = [f'{{"bucket": {link}, "ill": "{ill}", "count": 1}}' for ill, link in zip("xy", links, strict=True)]
        if suffix == ".csv":
            quasi = ["age,bucket", *(f"{age},{link}" for age, link in enumerate(links))]
            values = ["bucket,ill,count", *(f"{link},{ill},1" for ill, link in zip("xy", links, strict=True))]
        paths = [tmp_path / f"{name}{suffix}" for name in ("quasi", "values")]
        for path, lines in zip(paths, (quasi, values), strict=True):
            path.write_text("\n".join(lines) + "\n")
        if not odd:
            assert kohort.verify(paths[0], asked, sensitive_table=paths[1]).passed
            continue
        with pytest.raises(DataError, match="write equal cells alike"):
            kohort.verify(paths[0], asked, sensitive_table=paths[1])


def test_a_dictionary_may_hold_what_no_row_has(tmp_path):
    """Arrow writes all of it: categories of records that are gone were in the file."""
    ill = pd.Series(["x", "y", "Ann"], dtype="category")
    table = pd.DataFrame({"age": ["1", "1"], "area": ["A", "A"], "ill": ill[:2]})
    table.to_parquet(tmp_path / "r.parquet", compression=None)
    assert b"Ann" in (tmp_path / "r.parquet").read_bytes()
    with pytest.raises(DataError, match="columns with a dictionary") as refused:
        verified(tmp_path / "r.parquet")
    assert "Ann" not in str(refused.value)
    table.astype(str).to_parquet(tmp_path / "r.parquet")
    assert verified(tmp_path / "r.parquet")
    # what is read as an original may have some
    table.to_parquet(tmp_path / "r.parquet")
    assert kohort.verify(table.astype(str), ASKED, original=tmp_path / "r.parquet").passed


@pytest.mark.promise("3.3")
@pytest.mark.parametrize("pair", [(20, 20.0), (Decimal("1.0"), Decimal("1.00"))], ids=str)
def test_equal_objects_of_a_frame_are_written_alike(pair):
    """They became one type on the way, and as a file the frame has two texts."""
    for cells, passed in (((pair[0], pair[0]), True), (pair, False)):
        frame = pd.DataFrame({"age": pd.Series(cells, dtype=object), "area": ["A", "A"], "ill": ["x", "y"]})
        if passed:
            assert verified(frame)
            continue
        with pytest.raises(DataError, match=TWO):
            verified(frame)


@pytest.mark.promise("2.4")
@pytest.mark.parametrize(
    ("time", "passed"), [("", True), (" 00:00:00", True), (" 13:05", False), ("T00:00:00Z", False)]
)
def test_the_end_of_an_interval_of_days_has_no_time(tmp_path, time, passed):
    asked = DATED.with_changes("output", bounds=True)
    lines = [f"2020-01-31,2020-01-31{time},2020-01-31,2020-01-31,{ill}\n" for ill in "xy"]
    (tmp_path / "r.csv").write_text("".join(["born,born_lo,born_hi,born_mid,ill\n", *lines]))
    assert kohort.verify(tmp_path / "r.csv", asked).passed is passed
