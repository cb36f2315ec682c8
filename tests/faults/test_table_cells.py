"""Tables whose cells are not what the policy says: types, dates, domains, missing values."""

import datetime

import polars as pl

from faults.harness import (
    CANARY,
    DATA,
    INFEASIBLE,
    POLICY,
    Fault,
    age,
    ages,
    assert_refused,
    changed,
    command,
    contents,
    dated,
    each,
    frame,
    like,
    parquet,
    place,
    privacy,
    says,
    section,
    town,
)

DO = "correct them, list them as missing in [input], or change the column's type."
NO_INTEGERS = says(f"column 'age': 2 values are not whole numbers (first in row 2); {DO}")
TOO_LARGE = says(f"column 'age': 2 values are not 64-bit integers (first in row 2); {DO}")
NO_NUMBERS = says(f"column 'age': 2 values are not finite numbers (first in row 2); {DO}")
DURATIONS = "durations, which every tool writes in another way; convert it to a number, or to text."
NO_DAY = like(r"policy\.toml, line 7: columns\.age: 'format' must have year, month and day, each of them once: .*\.")
NO_DATES = says(f"column 'age': 2 values are not dates of the form %Y-%m-%d (first in row 2); {DO}")
NUMBER, DATE = age('type = "number"'), age('type = "date"')

TEXTS = [
    Fault("text-for-an-integer", NO_INTEGERS, data=ages(CANARY, f"{CANARY}0")),
    Fault("fraction-for-an-integer", NO_INTEGERS, data=ages("31.5", "41.0")),
    Fault("exponent-for-an-integer", NO_INTEGERS, data=ages("1e3", "2e3")),
    Fault("grouped-digits-for-an-integer", NO_INTEGERS, data=ages("1 000", "1'000")),
    Fault("hexadecimal-for-an-integer", NO_INTEGERS, data=ages("0x1f", "0b11")),
    Fault("arabic-digits-for-an-integer", NO_INTEGERS, data=ages("٣١", "٤١")),
    Fault("two-signs-for-an-integer", NO_INTEGERS, data=ages("+-31", "--41")),
    Fault(
        "one-text-for-an-integer",
        says(
            "column 'age': 1 value is no whole number (first in row 2); "
            "correct it, list it as missing in [input], or change the column's type."
        ),
        data=ages(CANARY, "41"),
    ),
    Fault("integer-beyond-64-bits", TOO_LARGE, data=ages("9223372036854775808", "-9223372036854775809")),
    Fault("integer-of-20-digits", TOO_LARGE, data=ages("77031770317703177031", "77032770327703277032")),
    Fault("text-for-a-number", NO_NUMBERS, policy=NUMBER, data=ages(CANARY, f"{CANARY}0")),
    Fault("infinite-for-a-number", NO_NUMBERS, policy=NUMBER, data=ages("inf", "-Infinity")),
    Fault("nan-for-a-number", NO_NUMBERS, policy=NUMBER, data=ages("NaN", "nan")),
    Fault("number-beyond-a-double", NO_NUMBERS, policy=NUMBER, data=ages("1e999", "-1e999")),
    Fault("decimal-comma", NO_NUMBERS, policy=NUMBER, data=ages('"31,5"', '"41,5"')),
    Fault("text-for-a-date", NO_DATES, policy=DATE, data=dated(CANARY, f"{CANARY}0")),
    Fault("date-of-another-form", NO_DATES, policy=DATE, data=dated("01.02.2020", "20200102")),
    Fault("date-that-is-none", NO_DATES, policy=DATE, data=dated("2020-02-30", "2021-02-29")),
    Fault("date-without-leading-zeros", NO_DATES, policy=DATE, data=dated("2020-1-1", "2021-6-6")),
    Fault("year-that-is-none", NO_DATES, policy=DATE, data=dated("0000-01-01", "12020-01-01")),
    Fault("month-that-is-none", NO_DATES, policy=DATE, data=dated("2020-13-01", "2020-00-01")),
    Fault("time-for-a-date", NO_DATES, policy=DATE, data=dated("2020-01-01 12:00", "2020-01-01T12:00:00")),
    Fault(
        "date-of-another-given-form",
        says(f"column 'age': 4 values are not dates of the form %d.%m.%Y (first in row 1); {DO}"),
        policy=age('type = "date"\nformat = "%d.%m.%Y"'),
        data=dated("2020-02-01", "2020-02-02"),
    ),
    Fault(
        "format-that-is-none",
        says(NO_DAY),
        policy=age('type = "date"\nformat = "banana"'),
        data=dated("2020-02-01", "2020-02-02"),
    ),
    Fault(
        "format-without-a-date",
        says(NO_DAY),
        policy=age('type = "date"\nformat = "%H"'),
        data=dated("2020-02-01", "2020-02-02"),
    ),
    Fault(
        "all-columns-at-once",
        says(*NO_INTEGERS, f"column 'town': 4 values are not finite numbers (first in row 1); {DO}"),
        policy=town('type = "number"'),
        data=ages(CANARY, f"{CANARY}0"),
    ),
]


def typed(**columns: object) -> bytes:
    return parquet(frame().with_columns(**{name: pl.lit(value) for name, value in columns.items()}))


TYPED = [
    Fault(
        "typed-texts-for-integers",
        says(f"column 'age': 4 values are not whole numbers (first in row 1); {DO}"),
        data=typed(age=CANARY),
        data_name="people.parquet",
    ),
    Fault(
        "typed-fractions-for-integers",
        says(f"column 'age': 4 values are not whole numbers (first in row 1); {DO}"),
        data=typed(age=31.5),
        data_name="people.parquet",
    ),
    Fault(
        "typed-infinite",
        says(f"column 'age': 4 values are not finite numbers (first in row 1); {DO}"),
        policy=NUMBER,
        data=typed(age=float("inf")),
        data_name="people.parquet",
    ),
    Fault(
        "typed-unsigned-beyond-64-bits",
        says(f"column 'age': 4 values are not 64-bit integers (first in row 1); {DO}"),
        data=typed(age=pl.Series([2**64 - 1] * 4, dtype=pl.UInt64)),
        data_name="people.parquet",
    ),
    Fault(
        "typed-128-bits",
        says("people.parquet: column 'age' holds whole numbers of 128 bits; convert it to 64 bits, or to text."),
        data=typed(age=pl.Series([2**70] * 4, dtype=pl.Int128)),
        data_name="people.parquet",
    ),
    Fault(
        "typed-dates-for-integers",
        says("column 'age': holds dates, not type 'integer'; change its type."),
        data=typed(age=datetime.date(2020, 1, 1)),
        data_name="people.parquet",
    ),
    Fault(
        "typed-integers-for-dates",
        says("column 'age': holds whole numbers, not type 'date'; change its type."),
        policy=DATE,
        data=typed(age=pl.Series([1, 2, 3, 4], dtype=pl.Int32)),
        data_name="people.parquet",
    ),
    Fault(
        "typed-times",
        says("column 'town': times of day cannot be a quasi-identifier; convert the column first."),
        data=typed(town=datetime.time(12)),
        data_name="people.parquet",
    ),
    Fault(
        "typed-durations",
        says(f"people.parquet: column 'town' holds {DURATIONS}"),
        data=typed(town=datetime.timedelta(1)),
        data_name="people.parquet",
    ),
    Fault(
        "typed-durations-for-csv",
        says(f"people.parquet: column 'disease' holds {DURATIONS}"),
        data=typed(disease=datetime.timedelta(1)),
        data_name="people.parquet",
    ),
    Fault(
        "typed-years-of-five-digits",
        says(f"column 'age': 4 values are not dates of the years 1 to 9999 (first in row 1); {DO}"),
        policy=DATE,
        data=typed(age=pl.Series([4_000_000] * 4, dtype=pl.Int32).cast(pl.Date)),
        data_name="people.parquet",
    ),
]

GAPS = changed(",31,", ",,", DATA)
TWO_GAPS = changed(",41,", ",NA,", GAPS)


def gaps(rule: str) -> str:
    return f'[input]\nmissing = ["", "NA"]\n{privacy(f"missing = {rule!r}")}'


VALUES = [
    Fault(
        "outside-the-domain",
        says(
            "column 'age': 2 distinct values lie outside its declared domain (first in row 2); "
            "widen the domain in the policy or correct the table."
        ),
        policy=age('type = "integer"\ndomain = [30, 40]'),
        data=ages("29", "41"),
    ),
    Fault(
        "faults-of-two-columns-together",
        says(
            "column 'age': 2 distinct values lie outside its declared domain (first in row 2); "
            "widen the domain in the policy or correct the table.",
            "column 'zip': values differ in length (2 of length 3, 2 of length 5); pad them to one length.",
            "column 'zip': 2 of 4 values are shorter than the prefix length 5; shorten the prefixes or pad the values.",
        ),
        policy=age('type = "integer"\ndomain = [30, 40]'),
        data=ages("29", "41").replace("77031", "770").replace("77032", "771"),
    ),
    Fault(
        "missing-refused",
        says(
            "policy.toml, line 5: 2 records miss a quasi-identifier (first in row 2) and missing = 'refuse'; "
            "complete them, or choose own-value or suppress."
        ),
        policy=gaps("refuse"),
        data=TWO_GAPS,
    ),
    Fault(
        "missing-suppressed-over-no-limit",
        says(
            like(
                r"policy\.toml, line 3: 2 of 4 records \(50\.00 %\) miss a quasi-identifier and would be suppressed; "
                r"suppression_limit is 0\.00 %; raise it, or .*\."
            )
        ),
        exit_code=INFEASIBLE,
        policy=gaps("suppress"),
        data=TWO_GAPS,
    ),
    Fault(
        "missing-suppressed-over-a-limit",
        says(
            like(
                r"policy\.toml, line 6: 2 of 4 records \(50\.00 %\) miss a quasi-identifier and would be suppressed; "
                r"suppression_limit is 40\.00 %; raise it, or .*\."
            )
        ),
        exit_code=INFEASIBLE,
        policy=changed("missing = 'suppress'", "missing = 'suppress'\nsuppression_limit = 0.4", gaps("suppress")),
        data=TWO_GAPS,
    ),
    Fault(
        # The table has 4 records; 2 of them are left.
        "missing-suppressed-and-too-few-left",
        says(
            like(
                r"policy\.toml, line 4: k = 3 is more than the 2 records .*(left|without|complete|remain|suppress).*\."
            )
        ),
        policy=changed("k = 2", "k = 3", gaps("suppress")).replace(
            "[algorithm]", "suppression_limit = 1.0\n[algorithm]"
        ),
        data=TWO_GAPS,
    ),
    Fault(
        "star-among-the-texts",
        says(
            "column 'town': 2 rows hold the single character that a release puts for a fully generalized value; "
            "correct them, or list it as missing in [input]."
        ),
        data=DATA.replace("Sekretheim", "*"),
    ),
    Fault(
        "blank-among-the-texts",
        says("column 'town': 2 rows hold blanks only; list them as missing in [input]."),
        data=DATA.replace("Sekretheim", "   "),
    ),
    Fault(
        "star-among-the-codes",
        says(
            "column 'zip': 1 of 4 values contain the mask character; choose another mask, "
            "or read these values as missing."
        ),
        data=DATA.replace("77031", "770**"),
    ),
    Fault(
        "bounds-that-are-columns-already",
        says(like(r".*'age_lo'.*\.")),
        policy=section("columns.age_lo", 'role = "insensitive"\n[output]\nbounds = true'),
        data="".join(f"{line},{'age_lo' if row == 0 else row}\n" for row, line in enumerate(DATA.splitlines())),
        output="release.parquet",
    ),
]


@each([*TEXTS, *TYPED, *VALUES])
def test_cells_that_do_not_fit_are_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


def test_the_table_without_faults_is_published(folder, capfd):
    """The faults of this folder are faults, and not those of the table that they are put into."""
    place(folder, {"policy.toml": POLICY, "people.csv": DATA})
    ended = command(capfd, "anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv", "-q")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert set(contents(folder)) == {"policy.toml", "people.csv", "release.csv", "release.csv.verdict.json"}
