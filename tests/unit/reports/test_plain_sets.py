"""What a release with sets promises, in plain words."""

import polars as pl
import pytest

import kohort
from kohort import Policy
from kohort.reports.plain import promised_in_words

CASES = {
    "k-m-anonymity": ({"m": 1}, "whoever knows up to 1 item of a record finds at least 2 that may have them"),
    "item-constraints": ({"every": 1}, "each protected set of items is kept by at least 2 records, or by none"),
    "rho-uncertainty": (
        {"rho": 1.0, "sensitive": ["c"]},
        "no sensitive item follows from other items with a confidence of 1",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_sets_alone(name):
    parameters, sentence = CASES[name]
    policy = Policy.build(
        k=2,
        quasi_identifiers=["bought"],
        types={"bought": "set"},
        columns={"bought": {"separator": ";", "item_suppression_limit": 1.0}},
        models=[{"model": name, "column": "bought", **parameters}],
    )
    release = kohort.anonymize(pl.DataFrame({"bought": ["a;b", "a;b", "c", "c;a"]}), policy)
    assert promised_in_words(release.verdict) == sentence
    assert "one class" in release.verdict.check("k").sentence


def test_sets_beside_other_columns():
    policy = Policy.build(
        k=2,
        quasi_identifiers=["age", "bought"],
        types={"bought": "set"},
        columns={"bought": {"separator": ";"}},
        models=[{"model": "k-m-anonymity", "column": "bought"}],
        seed=1,
    )
    table = pl.DataFrame({"age": [1, 1, 2, 2], "bought": ["a;b", "a;b", "c", "c"]})
    said = promised_in_words(kohort.anonymize(table, policy).verdict)
    assert said.startswith(
        "every record looks like at least 1 other but for its items, and whoever knows up to 2 items"
    )
