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
BELOW, ABOVE = "that tells values below the bottom apart", "that tells values above the top apart"


@pytest.mark.parametrize(
    ("text", "keys", "faults"),
    [
        ("[20 - 25]", {"snap": 5}, []),
        ("[20, 25[", {"snap": 5}, []),
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
        ("<= 18", {"bottom": 18, "min_width": 5}, []),
        ("<= 30", {"bottom": 18}, []),
        ("<= 17", {"bottom": 18}, [BELOW]),
        ("18", {"bottom": 18}, [BELOW]),
        ("[10 - 30]", {"bottom": 18}, [BELOW]),
        ("[18 - 30]", {"bottom": 18}, []),
        (">= 10", {"bottom": 18}, [BELOW]),
        (">= 90", {"top": 90}, []),
        ("> 90", {"top": 90}, []),
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


def test_what_cannot_be_read_does_not_pass():
    found = check(["about 20"], snap=5)
    assert found.sentence == "column 'x': 2 rows hold an interval or value that cannot be read."


def test_rows_are_counted():
    found = check(["[20 - 25]", "21", "22"], snap=5)
    assert found.figures["too_precise.x"] == 4
    assert f"4 rows hold an interval or value {OFF}" in found.sentence


def test_nothing_is_asked_of_other_columns():
    assert check(["21"]) is None
