"""Tables 1.3 and 1.4 of 004: transactions, and what PCTA makes of them for one privacy constraint with k = 4."""

import numpy as np
import polars as pl
import pytest

import kohort
from kohort import Policy
from kohort.reports.sets import utility_loss

ASTHMA, EYE, BEEF, SKIN, BREAD = "Asthma products", "Eye products", "Beef", "Skin products", "Bread"
ORIGINAL = [
    [ASTHMA, EYE],
    [ASTHMA, EYE, BEEF],
    [EYE, BEEF],
    [ASTHMA, SKIN, BEEF],
    [ASTHMA, BEEF],
    [EYE, BREAD],
    [SKIN, BEEF],
]
FIRST, SECOND = f"({ASTHMA}, {EYE})", f"({BEEF}, {BREAD}, {SKIN})"
PUBLISHED = [[FIRST], *[[FIRST, SECOND]] * 5, [SECOND]]


def policy(k=4, **more):
    model = {"model": "item-constraints", "column": "items", "protect": [[ASTHMA, SKIN]]} | more
    return Policy.from_dict(
        {"privacy": {"k": k, "models": [model]}, "output": {"order": "kept"}}
        | {"columns": {"items": {"role": "quasi", "type": "set"}}}
    )


def test_pcta_gives_table_1_4():
    release = kohort.anonymize(pl.DataFrame({"items": ORIGINAL}), policy())
    assert release.table["items"].to_list() == PUBLISHED
    assert release.verdict.check("item-constraints").figures["fewest"] == 5


def test_the_support_of_asthma_and_skin_rises_from_1_to_5():
    has = [{ASTHMA, SKIN} <= set(row) for row in ORIGINAL]
    may_have = [{FIRST, SECOND} <= set(row) for row in PUBLISHED]
    assert (sum(has), sum(may_have)) == (1, 5)
    rules = policy()
    found = kohort.verify(pl.DataFrame({"items": PUBLISHED}), rules)
    assert found.check("item-constraints").passed
    before = kohort.verify(pl.DataFrame({"items": ORIGINAL}), rules).check("item-constraints")
    assert not before.passed
    assert before.figures["fewest"] == 1


def test_table_1_4_holds_for_5_and_not_for_6():
    table = pl.DataFrame({"items": PUBLISHED})
    assert kohort.verify(table, policy(k=5)).check("item-constraints").passed
    assert not kohort.verify(table, policy(k=6)).check("item-constraints").passed


def test_utility_loss():
    each = [utility_loss(np.array([size]), np.array([6]), 5, 7) for size in (2, 3)]
    assert each == pytest.approx([3 / 31 * 6 / 7, 7 / 31 * 6 / 7])
    assert each == pytest.approx([0.082949, 0.193548], abs=1e-6)
    table = pl.DataFrame({"items": ORIGINAL})
    release = kohort.anonymize(table, policy())
    figures = kohort.describe(release.table, table, policy())["sets of items"]
    assert figures["utility_loss"] == pytest.approx(0.276498, abs=1e-6)


def test_upcta_keeps_to_the_utility_constraints():
    allowed = [[SKIN, BREAD, BEEF], [ASTHMA, EYE]]
    table = pl.DataFrame({"items": ORIGINAL})
    assert kohort.anonymize(table, policy(utility=allowed)).table["items"].to_list() == PUBLISHED
    assert not kohort.verify(pl.DataFrame({"items": PUBLISHED}), policy(utility=[[SKIN, BREAD]])).passed
