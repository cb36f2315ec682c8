"""Tables that cannot be read: no file, no table, broken lines, wrong encodings, damaged Parquet."""

import gzip

import polars as pl
import pytest

from faults.harness import (
    CANARY,
    DATA,
    HEADER,
    POLICY,
    ROWS,
    Fault,
    assert_nothing_told,
    assert_refused,
    command,
    contents,
    each,
    frame,
    like,
    parquet,
    place,
    plain_faults,
    says,
)

ROW = f"{CANARY},31,77031,Sekretheim,flu\n"
ENDS = (
    ".csv, .tsv, .txt, .csv.gz, .tsv.gz, .csv.zst, .tsv.zst, .parquet, .pq, .xlsx, .xlsm, .feather, .arrow, .ipc, "
    ".jsonl, .ndjson, .jsonl.gz, .ndjson.gz, .jsonl.zst, .ndjson.zst, .sas7bdat, .xpt, .sav, .zsav, .dta"
)
KINDS = f"its kind is not known by its name; kohort reads and writes {ENDS}."
BROKEN_QUOTE = "a quote is not closed, or text follows it; fix the line, or give the quote character."
HEADER_QUOTE = "a quote of the header is not closed, or text follows it; fix the line."
NUL = "people.csv: holds NUL bytes, so it is no CSV file; give CSV or Parquet."
NO_GZIP = "people.csv.gz: cannot be read (it is no gzip file, or is cut off); copy it again."
NO_PARQUET = "people.parquet: is no readable Parquet file; check how it was written."
LONG = DATA + ROW * 9_000
"""More than the sample that is looked at first."""


TAKE_OUT = "take it out of the folder, or give the files by a pattern."


def read_as(encoding: str) -> str:
    return f'[input]\nencoding = "{encoding}"\n{POLICY}'


FILES = [
    Fault("no-data", says("people.csv: cannot be read (No such file or directory); check the path."), data=None),
    Fault(
        "data-is-a-folder",
        says(f"people.csv: x is of no kind that kohort reads ({ENDS}); {TAKE_OUT}"),
        data=None,
        files={"people.csv/x": "1"},
    ),
    Fault("data-of-unknown-kind", says(f"people.docx: {KINDS}"), data_name="people.docx"),
    Fault("data-without-kind", says(f"people: {KINDS}"), data_name="people"),
    Fault("data-empty", says("people.csv: is empty; give a file with a header and rows."), data=""),
    Fault("data-blank", says("people.csv: is empty; give a file with a header and rows."), data="\n \n\n"),
    Fault("header-only", says("people.csv: has no rows; there is nothing to publish."), data=HEADER),
    Fault(
        "header-without-line-end", says("people.csv: has no rows; there is nothing to publish."), data=HEADER.strip()
    ),
]

HEADERS = [
    Fault(
        "name-empty",
        says("people.csv: column 4 of the header has no name; name it."),
        data=DATA.replace("town", "", 1),
    ),
    Fault(
        "two-names-empty",
        says("people.csv: columns 3 and 4 of the header have no name; name them."),
        data=DATA.replace("zip,town", ",", 1),
    ),
    Fault(
        "name-given-twice",
        says("people.csv: columns 3 and 4 of the header have the same name; rename one."),
        data=DATA.replace("town", "zip", 1),
    ),
    Fault(
        "names-given-twice-and-thrice",
        says(
            "people.csv: columns 1, 3 and 5 of the header have the same name; rename all but one.",
            "people.csv: columns 2 and 4 of the header have the same name; rename one.",
        ),
        data=f"x,y,x,y,x\n{ROWS}",
    ),
    Fault(
        # Its "names" are somebody's cells.
        "no-header",
        says(like(r"(people\.csv|the table|policy\.toml).*\bheader\b.*\.")),
        data=ROWS,
    ),
    Fault(
        "no-header-and-two-equal-cells",
        says("people.csv: columns 1 and 5 of the header have the same name; rename one."),
        data=f"{CANARY},30,77031,Sekretheim,{CANARY}\n{ROWS}",
    ),
    Fault("first-line-blank", says("people.csv: the first line is blank; it must be the header."), data=f"\n{DATA}"),
    Fault("header-quote-not-closed", says(f"people.csv, line 1: {HEADER_QUOTE}"), data=f'"{DATA}'),
    Fault("text-after-a-quote-of-the-header", says(f"people.csv, line 1: {HEADER_QUOTE}"), data=f'"x"{DATA}'),
]

LINES = [
    Fault(
        "line-too-short",
        says("people.csv, line 6: has 2 cells where the header has 5; fix the line, or give the delimiter."),
        data=f"{DATA}{CANARY},77031\n",
    ),
    Fault(
        "line-too-long",
        says("people.csv, line 6: has 6 cells where the header has 5; fix the line, or give the delimiter."),
        data=f"{DATA}{ROW.strip()},{CANARY}\n",
    ),
    Fault("quote-not-closed", says(f"people.csv, line 6: {BROKEN_QUOTE}"), data=f'{DATA}"{ROW}'),
    Fault("quote-not-closed-early", says(f"people.csv, line 2: {BROKEN_QUOTE}"), data=f'{HEADER}"{ROWS}'),
    Fault(
        "text-after-a-quote",
        says(f"people.csv, line 6: {BROKEN_QUOTE}"),
        data=f'{DATA}"{CANARY}"77031,31,77031,Sekretheim,flu\n',
    ),
    Fault(
        "line-ends-of-two-kinds",
        says("people.csv: has line ends of two kinds (CRLF, LF, CR); save it with one kind."),
        data=DATA.replace("\n", "\r\n", 2),
    ),
    Fault(
        "line-too-short-after-the-sample",
        says("people.csv, line 9006: has 2 cells where the header has 5; fix the line, or give the delimiter."),
        data=f"{LONG}{CANARY},77031\n",
    ),
    Fault(
        "line-of-33-mib",
        says("people.csv, line 6: is longer than 32 MiB; check its quotes, and that this is a CSV file."),
        data=f"{DATA}{CANARY * (33 << 20 >> 3)},31,77031,Sekretheim,flu\n",
    ),
    Fault("nul-byte", says(NUL), data=f"{DATA}{CANARY}\0{ROW}"),
    Fault("nul-byte-after-the-sample", says(NUL), data=f"{LONG}{CANARY}\0{ROW}"),
    Fault(
        "delimiter-of-another-file",
        # Its one name could as well be somebody's record.
        says(like(r"(people\.csv|the table|policy\.toml).*\bheader\b.*\.")),
        policy=f'[input]\ndelimiter = ";"\n{POLICY}',
    ),
]

NO_ENCODING = (
    "policy.toml, line 2: 'input.encoding' must be an encoding of texts that Python knows, such as utf-8 or cp1252."
)
ENCODINGS = [
    Fault(
        "encoding-unknown",
        says(NO_ENCODING),
        policy=read_as("klingon"),
    ),
    Fault(
        "encoding-of-bytes",
        says(NO_ENCODING),
        policy=read_as("base64"),
    ),
    *(
        Fault(f"encoding-{name}", says(NO_ENCODING), policy=read_as(name))
        for name in ("idna", "punycode", "unicode_escape", "raw-unicode-escape", "undefined", "utf_7", "rot13", "hex")
    ),
    Fault(
        "not-the-utf-8-that-was-promised",
        says("people.csv: is not utf-8 text; give the right encoding in [input]."),
        policy=read_as("utf-8"),
        data=DATA.encode() + CANARY.encode() + b"\xff" + ROW.encode(),
    ),
    Fault(
        "not-the-utf-8-that-was-promised-after-the-sample",
        says("people.csv: is not utf-8 text; give the right encoding in [input]."),
        policy=read_as("utf-8"),
        data=LONG.encode() + CANARY.encode() + b"\xff" + ROW.encode(),
    ),
    Fault(
        "not-the-ascii-that-was-promised",
        says("people.csv: is not ascii text; give the right encoding in [input]."),
        policy=read_as("ascii"),
        data=f"{DATA}{CANARY}é{ROW}",
    ),
    Fault(
        "not-the-ascii-that-was-promised-after-the-sample",
        says("people.csv: is not ascii text; give the right encoding in [input]."),
        policy=read_as("ascii"),
        data=f"{LONG}{CANARY}é{ROW}",
    ),
    Fault(
        "not-the-utf-16-that-was-promised",
        says("people.csv: is not utf-16 text; give the right encoding in [input]."),
        policy=read_as("utf-16"),
    ),
    Fault(
        "utf-16-cut-off",
        says("people.csv: is not utf-16 text; give the right encoding in [input]."),
        data=DATA.encode("utf-16")[:-1],
    ),
    Fault(
        "of-no-encoding",
        says("people.csv: is neither UTF-8 nor Windows-1252 text; give its encoding in [input]."),
        data=DATA.encode() + CANARY.encode() + b"\x81\x8d" + ROW.encode(),
    ),
]

GZIP = [
    Fault("gzip-that-is-none", says(NO_GZIP), data_name="people.csv.gz"),
    Fault("csv-that-is-gzip", says("people.csv: is a gzip file; name it .csv.gz."), data=gzip.compress(DATA.encode())),
    Fault(
        "gzip-empty",
        says("people.csv.gz: is empty; give a file with a header and rows."),
        data_name="people.csv.gz",
        data=b"",
    ),
    Fault(
        "gzip-cut-off",
        says(NO_GZIP),
        data_name="people.csv.gz",
        data=gzip.compress(DATA.encode())[:-12],
    ),
    Fault(
        "gzip-cut-off-of-a-given-encoding",
        says(NO_GZIP),
        policy=read_as("utf-8"),
        data_name="people.csv.gz",
        data=gzip.compress(LONG.encode())[:-12],
    ),
    Fault(
        "gzip-damaged",
        says(NO_GZIP),
        data_name="people.csv.gz",
        data=gzip.compress(DATA.encode())[:-8] + bytes(8),
    ),
]

GOOD = parquet(frame())


def nested(*columns: pl.Expr) -> bytes:
    return parquet(frame().with_columns(*columns))


PARQUET = [
    Fault(
        "no-parquet",
        says("people.parquet: cannot be read (No such file or directory); check the path."),
        data_name="people.parquet",
        data=None,
    ),
    Fault(
        "parquet-is-a-folder",
        says(f"people.parquet: x is of no kind that kohort reads ({ENDS}); {TAKE_OUT}"),
        data_name="people.parquet",
        data=None,
        files={"people.parquet/x": "1"},
    ),
    Fault("parquet-empty", says(NO_PARQUET), data_name="people.parquet", data=b""),
    Fault("parquet-that-is-csv", says(NO_PARQUET), data_name="people.parquet"),
    Fault("parquet-cut-off", says(NO_PARQUET), data_name="people.parquet", data=GOOD[:-20]),
    Fault("parquet-cut-in-half", says(NO_PARQUET), data_name="people.parquet", data=GOOD[: len(GOOD) // 2]),
    Fault("parquet-damaged", says(NO_PARQUET), data_name="people.parquet", data=GOOD[:4] + b"\x5a" * 300 + GOOD[304:]),
    Fault("csv-that-is-parquet", says("people.csv: is a Parquet file; name it .parquet."), data=GOOD),
    Fault(
        "parquet-without-rows",
        says("people.parquet: has no rows; there is nothing to publish."),
        data_name="people.parquet",
        data=parquet(frame().clear()),
    ),
    Fault(
        "parquet-without-columns",
        says(like(r"people\.parquet: has no (rows|columns); there is nothing to publish\.")),
        data_name="people.parquet",
        data=parquet(pl.DataFrame()),
    ),
    Fault(
        "parquet-with-lists",
        says("people.parquet: column 'town' holds lists, not one value per cell; drop or flatten it."),
        data_name="people.parquet",
        data=nested(pl.concat_list("town")),
    ),
    Fault(
        "parquet-with-records",
        says("people.parquet: column 'town' holds records, not one value per cell; drop or flatten it."),
        data_name="people.parquet",
        data=nested(pl.struct("town").alias("town")),
    ),
    Fault(
        "parquet-with-bytes-twice",
        says(
            "people.parquet: column 'zip' holds bytes, not one value per cell; drop or flatten it.",
            "people.parquet: column 'town' holds bytes, not one value per cell; drop or flatten it.",
        ),
        data_name="people.parquet",
        data=nested(pl.col("town", "zip").cast(pl.Binary)),
    ),
]


@each([*FILES, *HEADERS, *LINES, *ENCODINGS, *GZIP, *PARQUET])
def test_a_table_that_cannot_be_read_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


@pytest.mark.parametrize("name", ["people[1].csv", "people*.csv", "age=7/people.csv", "PEOPLE.CSV.GZ"])
def test_a_name_is_no_pattern_and_no_partition(name, folder, capfd):
    data = DATA.encode()
    place(folder, {name: gzip.compress(data) if name.endswith("GZ") else data, "policy.toml": POLICY})
    place(folder, {"people1.csv": CANARY, "peoples.csv": CANARY})
    ended = command(capfd, "anonymize", name, "-p", "policy.toml", "-o", "release.csv", "-q")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_names_that_differ_in_case_alone_are_read_or_named(folder, capfd):
    place(
        folder,
        {"people.csv": DATA.replace("town", "ZIP", 1), "policy.toml": POLICY.replace("columns.town", "columns.ZIP")},
    )
    before = contents(folder)
    ended = command(capfd, "anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv")
    assert_nothing_told(ended)
    if ended.code != 0:
        [sentence] = plain_faults(ended)
        assert "'zip'" in sentence
        assert "'ZIP'" in sentence
        assert contents(folder) == before
