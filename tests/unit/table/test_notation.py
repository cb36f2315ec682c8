"""Decimal commas and marks between thousands: read alike by maker and auditor, and never guessed."""

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kohort
from kohort import Policy
from kohort.audit.meaning.notation import plain_number
from kohort.errors import DataError, PolicyError
from kohort.policy.notation import Notation
from kohort.table.numbers import in_points

NOTATIONS = [Notation(d, t) for d in ".," for t in (".", ",", "'", "_", " ", None) if d != t]
GERMAN = """
privacy = { k = 4, models = [{ model = "distinct-l-diversity", l = 2, column = "owed" }] }
algorithm = { name = "fast", seed = 1 }
input = { decimal = ",", thousands = "." }
[columns]
pay = { role = "quasi", type = "number" }
owed = { role = "sensitive", type = "number" }
"""
PAY = [800, 1_250, 86_320, 99_999.5, 1_000_000, 12.25, 1_250, 3]
GERMAN_PAY = ["800", "1.250", "86.320", "99.999,5", "1.000.000", "12,25", "1250,00", "3,"]


@given(st.text(alphabet="0123456789.,'_- +\u00a0\u2019e", max_size=12), st.sampled_from(NOTATIONS))
@example("1.234,5", Notation(",", "."))
@example("0.123", Notation(",", "."))
@example("1\u00a0234,5", Notation(",", " "))
@example("1.2345", Notation(",", "."))
@example(",5", Notation(",", "."))
def test_the_maker_and_the_auditor_read_alike(text, notation):
    assert in_points(pl.Series([text]), notation).to_list() == [plain_number(text, notation)]


@pytest.mark.parametrize(
    ("text", "notation", "number"),
    [
        ("86.320", Notation(",", "."), "86320"),
        ("86.320", Notation(".", None), "86.320"),
        ("-1 234,50", Notation(",", " "), "-1234.50"),
        ("1'234.5", Notation(".", "'"), "1234.5"),
        ("12.34", Notation(",", "."), None),
        ("1.234.56", Notation(",", "."), None),
        ("12.345.678", Notation(".", None), None),
    ],
)
def test_what_numbers_mean(text, notation, number):
    assert plain_number(text, notation) == number


def table(pay=GERMAN_PAY):
    return pl.DataFrame({"pay": pay, "owed": ["1.000", "7,5"] * 4})


@pytest.mark.parametrize("memory", [None, "500MB"])
def test_a_german_table_is_released_and_verified(memory, tmp_path):
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table().write_csv(file, separator=";")
    policy = (
        Policy.from_toml(GERMAN).with_changes("output", order="kept") if memory is None else Policy.from_toml(GERMAN)
    )
    release = kohort.anonymize(file, policy, output=out, memory=memory)
    assert release.verdict.passed
    assert kohort.verify(out, policy, original=file).passed
    published = set(release.table["pay"]) if memory is None else set(pl.read_csv(out, separator=";")["pay"])
    ends = {float(end) for text in published for end in text.strip("[]").split(" - ")}
    assert ends <= set(PAY)
    assert {min(PAY), max(PAY)} <= ends


def test_a_release_that_took_thousands_for_decimals_is_not_verified(tmp_path):
    policy = Policy.from_toml(
        GERMAN.replace("k = 4", "k = 2").replace(
            ', models = [{ model = "distinct-l-diversity", l = 2, column = "owed" }]', ""
        )
    )
    original = pl.DataFrame({"pay": ["86.320", "86.320"], "owed": ["1.000", "7,5"]})
    good = pl.DataFrame({"pay": ["86320"] * 2, "owed": ["1.000", "7,5"]})
    assert kohort.verify(good, policy, original=original).passed
    assert not kohort.verify(good.with_columns(pay=pl.lit("86.32")), policy, original=original).passed
    other = good.with_columns(pl.Series("owed", ["1.00", "7,5"]))  # one thousand became one
    assert not kohort.verify(other, policy, original=original).passed


def test_one_number_in_two_spellings_is_one_sensitive_value():
    policy = Policy.from_toml(GERMAN)
    one = table().with_columns(pl.Series("owed", ["7,5", "7,50"] * 4))
    with pytest.raises(kohort.errors.KohortError, match="l = 2"):
        kohort.anonymize(one, policy)


def rules(**column):
    return Policy(privacy={"k": 2}, columns={"pay": {"role": "quasi"} | column})


@pytest.mark.parametrize("column", [{}, {"type": "number"}, {"hierarchy": {"intervals": {"width": 10}}}])
def test_doubtful_numbers_are_refused(column):
    doubtful = pl.DataFrame({"pay": ["86.320", "1.250", "999"] * 4})
    with pytest.raises(DataError, match="could be thousands or have three decimals"):
        kohort.anonymize(doubtful, rules(**column))


@pytest.mark.parametrize("third", ["0.512", "1234.567", "12.5"])
def test_one_number_that_can_be_read_in_one_way_decides(third):
    plain = pl.DataFrame({"pay": ["86.320", "1.250", third] * 4})
    assert kohort.anonymize(plain, rules()).verdict.passed


@pytest.mark.parametrize(("marks", "low"), [({"decimal": "."}, 1.25), ({"thousands": "."}, 1250)])
def test_the_policy_says_what_points_mean(marks, low):
    doubtful = pl.DataFrame({"pay": ["86.320", "1.250"] * 2})
    release = kohort.anonymize(doubtful, rules(type="number", **marks))
    assert min(map(float, release.table["pay"])) == low


def test_marks_of_the_input_need_types():
    policy = Policy(privacy={"k": 2}, input={"decimal": ","}, columns={"pay": {"role": "quasi"}})
    for cells in (["1,5", "2,5"], ["1.5", "2.5"]):
        with pytest.raises(DataError, match="give it type"):
            kohort.anonymize(pl.DataFrame({"pay": cells * 2}), policy)
    assert kohort.anonymize(pl.DataFrame({"pay": ["1", "2"] * 2}), policy).verdict.passed


def test_a_value_in_another_notation_is_an_error_without_its_text():
    with pytest.raises(
        DataError, match=r"'pay': 1 value is no number with a decimal comma \(first in row 2\)"
    ) as error:
        kohort.anonymize(pl.DataFrame({"pay": ["1,5", "2.575"]}), rules(type="number", decimal=","))
    assert "2.575" not in str(error.value)


def test_typed_columns_have_no_notation():
    with pytest.raises(DataError, match="are about texts"):
        kohort.anonymize(pl.DataFrame({"pay": [1.5, 2.5]}), rules(type="number", decimal=","))


@pytest.mark.parametrize(
    "wrong",
    [
        {"decimal": ","},
        {"type": "string", "thousands": "."},
        {"type": "number", "decimal": ",", "thousands": ","},
        {"type": "number", "decimal": ",", "hierarchy": {"flat": True}},
        {"type": "number", "decimal": ";"},
    ],
)
def test_marks_that_make_no_sense_are_refused(wrong):
    with pytest.raises(PolicyError):
        rules(**wrong)
