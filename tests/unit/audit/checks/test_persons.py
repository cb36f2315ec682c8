"""The check of persons: when it can be answered, and that it never passes where it cannot."""

import polars as pl
import pytest

from kohort.audit import verify
from kohort.policy import Policy

ORIGINAL = pl.DataFrame(
    {
        "who": ["1", "1", "2", "3", "3", "4"],
        "age": [20, 20, 21, 40, 40, 41],
        "ill": ["a", "b", "c", "d", "e", "f"],
    }
)
GOOD = pl.DataFrame({"age": ["[20 - 21]"] * 3 + ["[40 - 41]"] * 3, "ill": ["a", "b", "c", "d", "e", "f"]})
# the first two rows are one person's
BAD = GOOD.with_columns(pl.Series("age", ["20", "20", "[21 - 41]", "[21 - 41]", "[21 - 41]", "[21 - 41]"]))
IN_ORDER = list(range(6))


def policy(k=2, **changes):
    base = {
        "privacy": {"k": k, "person": "who"},
        "columns": {
            "who": {"role": "identifier"},
            "age": {"role": "quasi", "type": "integer"},
            "ill": {"role": "sensitive"},
        },
    }
    return Policy(**(base | changes))


def persons(*arguments, **more):
    return verify(*arguments, **more).check("persons")


def test_persons_are_counted_row_by_row():
    verdict = verify(GOOD, policy(), original=ORIGINAL, row_order=IN_ORDER)
    assert verdict.passed
    assert verdict.check("persons").sentence == (
        "every class has at least 2 persons (fewest 2), counted in the original, row by row."
    )
    assert "every class has at least 2 persons" in verdict.reason
    assert [check.name for check in verdict.checks][:3] == ["columns", "k", "persons"]


def test_k_rows_of_one_person_are_not_k_persons():
    verdict = verify(BAD, policy(), original=ORIGINAL, row_order=IN_ORDER)
    assert verdict.check("k").passed
    found = verdict.check("persons")
    assert not found.passed
    assert found.sentence == "1 of 2 classes has fewer than k = 2 persons (fewest 1)."
    assert found.figures["classes_under_k"] == 1


def test_the_order_is_the_one_that_is_given():
    order = [5, 3, 2, 4, 0, 1]
    assert persons(GOOD[order], policy(), original=ORIGINAL, row_order=order).passed
    assert not persons(BAD[order], policy(), original=ORIGINAL, row_order=order).passed


def test_withheld_rows_do_not_count():
    order = [0, 1, 3, 4, 5]
    limit = policy(privacy={"k": 2, "person": "who", "suppression_limit": 0.5})
    assert not persons(GOOD[order], limit, original=ORIGINAL, row_order=order).passed
    assert persons(GOOD[[3, 4, 5]], limit, original=ORIGINAL, row_order=[3, 4, 5]).passed


def test_a_policy_that_keeps_the_order_tells_it():
    kept = policy(output={"order": "kept"})
    assert persons(GOOD, kept, original=ORIGINAL).passed
    assert not persons(BAD, kept, original=ORIGINAL).passed
    # not all rows are there: which ones is not known
    assert persons(GOOD[:3], kept, original=ORIGINAL).passed  # there is one way to withhold the others
    assert "it is not certain which" in persons(GOOD[:3], kept, original=ORIGINAL[[0, 0, 1, 2, 3, 4, 5]]).sentence


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({}, "the file does not name them and the original was not given"),
        ({"original": ORIGINAL}, "it is not known which original row each row comes from; give row_order"),
        ({"original": ORIGINAL.drop("who"), "row_order": IN_ORDER}, "column 'who' is not in the original"),
    ],
)
def test_what_cannot_be_counted_does_not_pass(more, why):
    found = persons(GOOD, policy(), **more)
    assert not found.passed
    assert found.sentence == f"persons cannot be counted, as {why}."


def test_without_all_quasi_identifiers_there_are_no_classes():
    found = persons(GOOD.drop("age"), policy(), original=ORIGINAL, row_order=IN_ORDER)
    assert not found.passed
    assert "not in classes of all quasi-identifiers" in found.sentence


def test_a_row_without_a_person_fails():
    unknown = ORIGINAL.with_columns(pl.Series("who", ["1", " ", "2", "3", None, "4"]))
    found = persons(GOOD, policy(), original=unknown, row_order=IN_ORDER)
    assert found.sentence == "2 rows do not say who the person is."
    assert found.figures["rows_without_person"] == 2


def test_equal_persons_in_other_words_are_one():
    same = ORIGINAL.with_columns(pl.Series("who", ["1", "2", "2.0", "3", "4", "5"]))
    assert persons(GOOD, policy(), original=same, row_order=IN_ORDER).figures["fewest_persons"] == 2
    assert not persons(GOOD, policy(k=3), original=same, row_order=IN_ORDER).passed


def test_rows_of_stars_are_a_class_only_if_they_are_not_suppressed():
    stars = GOOD.with_columns(pl.Series("age", ["[20 - 21]"] * 3 + ["*"] * 3))
    one = ORIGINAL.with_columns(pl.Series("who", ["1", "1", "2", "3", "3", "3"]))
    assert not persons(stars, policy(), original=one, row_order=IN_ORDER).passed
    limit = {"k": 2, "person": "who", "suppression_limit": 0.5}
    shown = policy(privacy=limit, output={"suppressed": "starred"})
    assert verify(stars, shown, original=one, row_order=IN_ORDER).passed
    nobody = GOOD.with_columns(age=pl.lit("*"))
    everything = policy(privacy=limit | {"suppression_limit": 1.0}, output={"suppressed": "starred"})
    assert persons(nobody, everything, original=one, row_order=IN_ORDER).sentence == (
        "every row is suppressed, so there is no class."
    )


def test_without_the_key_nothing_is_asked():
    assert persons(BAD, policy(privacy={"k": 2}), original=ORIGINAL, row_order=IN_ORDER) is None
