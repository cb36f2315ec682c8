"""Workbooks as people make them: what a reader could see in two ways is refused with a sentence, before any work."""

import zipfile
from datetime import date

import openpyxl
import polars as pl
import pytest
import xlsxwriter

import kohort
from kohort.errors import DataError
from kohort.policy.sections import Input
from kohort.table import read_table, write_table

POLICY = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], algorithm="mondrian", seed=1)
ROWS = [("age", "ill"), (30, "flu"), (31, "cold"), (40, "flu"), (41, "cold")]


def workbook(path, rows=ROWS, change=lambda book, sheet: None):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    change(book, book.active)
    book.save(path)
    return path


def merged(book, sheet):
    sheet["D1"], sheet["E1"] = "a", None
    sheet.merge_cells("A1:B1")


def hidden(book, sheet):
    sheet.row_dimensions[3].hidden = True


def formula(book, sheet):
    sheet["B3"] = "=A3+1"  # openpyxl writes no result


def error(book, sheet):
    sheet["B3"] = "#N/A"


def second(book, sheet):
    book.create_sheet("other")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (merged, "has 1 merged cells in the header or below it; unmerge them, or skip the rows above by 'skip_rows'."),
        (hidden, "has 1 hidden rows, which a filter may have left out; show or delete them."),
        (formula, "has 1 formulas without a result; open it in a spreadsheet and save it."),
        (error, "has 1 cells with an error, such as #N/A; correct them, or make them empty."),
        (second, "has 2 sheets; say which one holds the table, by 'sheet' in [input] or --sheet."),
        (lambda book, sheet: sheet.__setitem__("C3", 5), "column 3 of the header has no name; name it."),
        (lambda book, sheet: sheet.__setitem__("B1", "age"), "columns 1 and 2 of the header have the same name"),
        (lambda book, sheet: sheet.__setitem__("B3", date(1900, 1, 5)), "days before March 1900"),
    ],
)
def test_what_could_be_seen_in_two_ways_is_refused(tmp_path, change, sentence):
    path = workbook(tmp_path / "book.xlsx", change=change)
    if "1900" in sentence:
        path = workbook(path, rows=[("age", "ill"), (30, date(1900, 1, 5)), (31, date(1990, 1, 5))])
    with pytest.raises(DataError) as refused:
        kohort.anonymize(path, POLICY, output=tmp_path / "release.csv")
    assert sentence in str(refused.value)
    assert not (tmp_path / "release.csv").exists()


def test_the_sheet_that_is_named_is_read_and_rows_above_the_header_are_skipped(tmp_path):
    def titled(book, sheet):
        other = book.create_sheet("people")
        for row in [("Report", None), ("made today", None), (None, None), *ROWS]:
            other.append(row)
        other.merge_cells("A1:B1")

    path = workbook(tmp_path / "book.xlsx", [("x", "y"), (1, 2)], titled)
    policy = POLICY.with_changes("input", sheet="people", skip_rows=3)
    made = kohort.anonymize(path, policy, output=tmp_path / "release.xlsx")
    assert made.verdict.passed
    assert made.table["ill"].sort().to_list() == ["cold", "cold", "flu", "flu"]
    assert kohort.verify(tmp_path / "release.xlsx", policy, original=path).passed
    with pytest.raises(DataError, match="has no sheet 'nobody'"):
        read_table(path, Input(sheet="nobody"))


def test_numbers_as_text_dates_and_empty_rows(tmp_path):
    rows = [("zip", "n", "mixed", "day"), ("01234", 1, 1, date(2024, 1, 2)), (), ("99999", 2, "x", date(2024, 1, 3))]
    frame = read_table(workbook(tmp_path / "book.xlsx", rows)).frame
    assert frame.rows() == [("01234", 1, "1", date(2024, 1, 2)), ("99999", 2, "x", date(2024, 1, 3))]


def test_a_cell_that_looks_like_a_formula_stays_a_text_or_is_neutralised(tmp_path):
    frame = pl.DataFrame({"age": [30, 31, 40, 41], "ill": ["=1+1", "@x", "-5", "a"]})
    for form, written in [("kept", "=1+1"), ("neutralised", "'=1+1")]:
        policy = POLICY.with_changes("output", formulas=form)
        path = tmp_path / f"{form}.xlsx"
        kohort.anonymize(frame, policy, output=path)
        sheet = openpyxl.load_workbook(path).active
        assert {cell.data_type for row in sheet.iter_rows(min_row=2) for cell in row} == {"s"}
        assert written in {row[1].value for row in sheet.iter_rows(min_row=2)}
        assert kohort.verify(path, policy, original=frame).passed


def test_equal_releases_are_equal_files(tmp_path):
    frame = pl.DataFrame({"age": [30, 31], "ill": ["a", "b"]})
    for name in ("a", "b"):
        write_table(frame, tmp_path / f"{name}.xlsx", "excel", None, neutralise=False)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (pl.Series("x", ["SECRETCELL\x07"]), "column 'x': holds control characters"),
        (pl.Series("x", ["_x0041_"]), "column 'x': holds control characters"),
        (pl.Series("x", ["a" * 32768]), "too long for an Excel cell"),
        (pl.Series("x", [0.1 + 0.2]), "such of 17 digits"),
        (pl.Series("x", [float("inf")]), "infinite numbers"),
    ],
)
def test_what_a_cell_does_not_keep_is_refused(tmp_path, column, sentence):
    with pytest.raises(DataError) as refused:
        write_table(pl.DataFrame([column]), tmp_path / "a.xlsx", "excel", None, neutralise=False)
    assert sentence in str(refused.value)
    assert "SECRET" not in str(refused.value)


def test_long_whole_numbers_and_old_days_are_written_as_text(tmp_path):
    frame = pl.DataFrame({"n": [10**17 + 1], "d": [date(1850, 5, 6)]})
    write_table(frame, tmp_path / "a.xlsx", "excel", None, neutralise=False)
    assert read_table(tmp_path / "a.xlsx").frame.rows() == [(str(10**17 + 1), "1850-05-06")]


def test_a_release_of_another_tool_is_one_plain_sheet_and_nothing_else(tmp_path):
    """Further sheets, comments and texts that no cell shows would be handed over unchecked."""
    rows = [("age", "ill"), (30, "flu"), (30, "cold")]
    plain = workbook(tmp_path / "plain.xlsx", rows)
    assert kohort.verify(plain, POLICY).passed
    more = workbook(tmp_path / "more.xlsx", rows, lambda book, sheet: book.create_sheet("raw").append(["name"]))
    with pytest.raises(DataError, match="more than one plain sheet"):
        kohort.verify(more, POLICY)

    def remark(book, sheet):
        sheet["A2"].comment = openpyxl.comments.Comment("this is SECRETCELL", "me")

    with pytest.raises(DataError, match="more than one plain sheet"):
        kohort.verify(workbook(tmp_path / "remark.xlsx", rows, remark), POLICY)
    kept = tmp_path / "kept.xlsx"
    with xlsxwriter.Workbook(plain) as book:  # which keeps texts beside the cells, as Excel does
        sheet = book.add_worksheet()
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    assert kohort.verify(plain, POLICY).passed
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(kept, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/sharedStrings.xml":
                data = data.replace(b"</sst>", b"<si><t>SECRETCELL</t></si></sst>")
            new.writestr(name, data)
    with pytest.raises(DataError, match="keeps texts that no cell shows"):
        kohort.verify(kept, POLICY)
