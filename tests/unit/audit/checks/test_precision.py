"""The check of precision, on files that somebody else may have written."""

import polars as pl
import pytest

from kohort.audit import verify
from kohort.policy import Policy


def check(texts, kind="integer", **keys):
    policy = Policy(privacy={"k": 2}, columns={"x": {"role": "quasi", "type": kind, **keys}})
    doubled = [text for text in texts for _ in range(2)]
    return verify(pl.DataFrame({"x": pl.Series(doubled, dtype=pl.String)}), policy).check("precision")


OFF, NARROW = "with an end off the grid", "narrower than allowed"
BELOW, ABOVE = "that distinguishes values below the bottom", "that distinguishes values above the top"


@pytest.mark.parametrize(
    ("text", "keys", "faults"),
    [
        ("[20 - 25]", {"snap": 5}, []),
        ("[20, 25[", {"snap": 5}, [OFF, NARROW]),
        ("[20, 26[", {"snap": 5}, []),
        ("]19, 26[", {"snap": 5}, []),
        ("]20, 30[", {"snap": 5}, [OFF]),
        ("[19.5 - 25.5]", {"snap": 5}, []),
        ("[-5 - 0]", {"snap": 5}, []),
        ("[21 - 25]", {"snap": 5}, [OFF, NARROW]),
        ("[21 - 30]", {"snap": 5}, [OFF]),
        ("25", {"snap": 5}, [NARROW]),
        ("*", {"snap": 5, "min_width": 50, "top": 90}, []),
        (None, {"snap": 5}, []),
        ("[0.3 - 0.4]", {"snap": 0.1}, []),
        ("[0.3 - 0.45]", {"snap": 0.1}, [OFF]),
        ("[21 - 25]", {"min_width": 4}, []),
        ("[21 - 25]", {"min_width": 5}, [NARROW]),
        ("21", {"min_width": 5}, [NARROW]),
        ("]0, 10[", {"min_width": 10}, [NARROW]),
        ("[0, 10[", {"min_width": 10}, [NARROW]),
        ("(0, 10]", {"min_width": 10}, [NARROW]),
        ("(0, 11)", {"min_width": 10}, [NARROW]),
        ("(0, 12)", {"min_width": 10}, []),
        ("[0.5 - 10.5]", {"min_width": 10}, [NARROW]),
        ("[-0.5 - 10.5]", {"min_width": 10}, []),
        ("(3, 4)", {"min_width": 1}, [NARROW]),
        ("<= 18", {"bottom": 18, "min_width": 5}, []),
        ("<= 30", {"bottom": 18}, []),
        ("<= 17", {"bottom": 18}, [BELOW]),
        ("18", {"bottom": 18}, [BELOW]),
        ("< 18", {"bottom": 18}, [BELOW]),
        ("< 19", {"bottom": 18}, []),
        ("> 17", {"bottom": 18}, []),
        ("> 16", {"bottom": 18}, [BELOW]),
        ("[10 - 30]", {"bottom": 18}, [BELOW]),
        ("[18 - 30]", {"bottom": 18}, []),
        (">= 10", {"bottom": 18}, [BELOW]),
        (">= 90", {"top": 90}, []),
        ("> 90", {"top": 90}, [ABOVE]),
        ("> 89", {"top": 90}, []),
        ("> 88", {"top": 90}, []),
        ("≥ 90", {"top": 90}, []),
        ("90+", {"top": 90}, []),
        ("91+", {"top": 90}, [ABOVE]),
        ("< 91", {"top": 90}, []),
        ("< 92", {"top": 90}, [ABOVE]),
        ("[70, 91[", {"top": 90}, []),
        ("[89.5 - 90.5]", {"top": 90}, [ABOVE]),
        (">= 91", {"top": 90}, [ABOVE]),
        (">= 70", {"top": 90}, []),
        ("90", {"top": 90}, [ABOVE]),
        ("[70 - 95]", {"top": 90}, [ABOVE]),
        ("[70 - 90]", {"top": 90}, []),
        ("<= 95", {"top": 90}, [ABOVE]),
    ],
)
def test_every_limit(text, keys, faults):
    kind = "number" if 0.1 in keys.values() else "integer"
    found = check([text], kind, **keys)
    assert found.passed == (not faults)
    assert [fault for fault in (OFF, NARROW, BELOW, ABOVE) if fault in found.sentence] == faults


def test_dates():
    assert check(["[2024-01-01 - 2024-01-08]"], "date", snap=7).passed
    assert not check(["[2024-01-02 - 2024-01-09]"], "date", snap=7).passed
    assert check([">= 2024-01-01"], "date", top="2024-01-01").passed
    assert not check(["2024-01-01"], "date", top="2024-01-01").passed
    assert not check(["[2024-01-01 - 2024-01-05]"], "date", min_width=5).passed
    assert not check(["> 2024-01-01"], "date", top="2024-01-01").passed
    assert check(["> 2023-12-31"], "date", top="2024-01-01").passed
    assert not check(["< 2024-01-01"], "date", bottom="2024-01-01").passed
    assert not check(["[2024-01-01, 2024-01-08["], "date", min_width=7).passed
    assert not check(["(2024-01, 2024-03)"], "date", min_width=29).passed  # February of 2024 has 29 days
    assert check(["(2024-01, 2024-03)"], "date", min_width=28).passed
    assert not check(["> 2024"], "date", top="2024-12-31").passed


@pytest.mark.parametrize(
    ("text", "keys", "faults"),
    [
        ("]0, 10[", {"min_width": 10}, [NARROW]),
        ("[0, 10[", {"min_width": 10}, [NARROW]),
        ("]0, 10.5[", {"min_width": 10}, []),
        ("> 90", {"top": 90}, [ABOVE]),
        ("> 89.9", {"top": 90}, []),
        ("[70, 90[", {"top": 90}, []),
        ("< 18", {"bottom": 18}, [BELOW]),
        ("1e30", {"snap": 7}, [OFF, NARROW]),
        ("[1 - 1e30]", {"snap": 1, "min_width": 5}, []),
    ],
)
def test_an_excluded_end_of_any_numbers(text, keys, faults):
    found = check([text, "[0.5 - 100.5]"] if not {"snap", "top", "bottom"} & {*keys} else [text], "number", **keys)
    assert [fault for fault in (OFF, NARROW, BELOW, ABOVE) if fault in found.sentence] == faults


def test_the_original_says_whether_values_are_whole():
    policy = Policy(privacy={"k": 2}, columns={"x": {"role": "quasi", "type": "number", "min_width": 10}})
    release = pl.DataFrame({"x": ["]0, 11["] * 2})
    assert not verify(release, policy, original=pl.DataFrame({"x": [1.0, 10.0]})).check("precision").passed
    assert verify(release, policy, original=pl.DataFrame({"x": [1.0, 9.5]})).check("precision").passed
    assert verify(release, policy).check("precision").passed
    untyped = Policy(privacy={"k": 2}, columns={"x": {"role": "quasi", "min_width": 10}})
    assert not verify(release, untyped).check("precision").passed


def test_who_is_at_a_border_is_published_without_an_end_there():
    policy = Policy(privacy={"k": 2}, columns={"x": {"role": "quasi", "type": "integer", "bottom": 20, "top": 90}})
    original = pl.DataFrame({"x": [20, 21, 89, 90]})
    fine = pl.DataFrame({"x": ["<= 21", "<= 21", ">= 89", ">= 89"]})
    assert verify(fine, policy, original=original).passed
    for texts in (["[20 - 30]", "[20 - 30]", ">= 89", ">= 89"], ["<= 21", "<= 21", "[80 - 90]", "[80 - 90]"]):
        found = verify(pl.DataFrame({"x": texts}), policy, original=original)
        assert found.check("precision").passed
        assert found.check("coverage").figures["not_covered.x"] == 1


def test_what_cannot_be_read_does_not_pass():
    found = check(["about 20"], snap=5)
    assert found.sentence == "column 'x': 2 rows hold an interval or value that cannot be read."


def test_rows_are_counted():
    found = check(["[20 - 25]", "21", "22"], snap=5)
    assert found.figures["too_precise.x"] == 4
    assert f"4 rows hold an interval or value {OFF}" in found.sentence


def test_nothing_is_asked_of_other_columns():
    assert check(["21"]) is None
