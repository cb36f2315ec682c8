"""Spellings of one value do not defeat a promise: models, buckets, ledger, m-invariance, in every engine."""

import csv

import polars as pl
import pytest

import kohort
from kohort.audit.audit import examine
from kohort.audit.ledger import Entry, Ledger, PersonKey
from kohort.errors import InfeasibleError
from kohort.reports.propose import propose

VARIANTS = [
    ["flu", "flu ", "\u00a0flu", "Flu"],
    ["é", "e\u0301", "É", " é"],
    ["1", "1.0", "x", "X"],
    ["1", "01", "1e0", "+1"],
    ["", " ", None, "\u200b"],
]
MODELS = [
    {"model": "distinct-l-diversity", "column": "ill", "l": 2},
    {"model": "entropy-l-diversity", "column": "ill", "l": 2},
    {"model": "recursive-cl-diversity", "column": "ill", "c": 2, "l": 2},
    {"model": "frequency-l-diversity", "column": "ill", "l": 2},
]


def policy_of(*models, **output):
    columns = {"age": {"role": "quasi", "type": "integer"}, "ill": "sensitive"}
    algorithm = {"bound_effort": 0.0}
    return kohort.Policy(privacy={"k": 2, "models": list(models)}, algorithm=algorithm, output=output, columns=columns)


@pytest.mark.promise("1.6")
@pytest.mark.parametrize("spellings", VARIANTS, ids=range(len(VARIANTS)))
@pytest.mark.parametrize("model", MODELS, ids=[model["model"] for model in MODELS])
def test_the_audit_counts_spellings_as_one_value(model, spellings):
    policy = policy_of(model)
    others = ["a", "b", "c", "d"]
    release = pl.DataFrame({"age": ["[1 - 9]"] * 4 + ["[10 - 19]"] * 4, "ill": [*spellings[:2] * 2, *others]})
    found = kohort.verify(release, policy).check(model["model"])
    assert not found.passed
    assert found.figures["classes_failing"] == 1


@pytest.mark.parametrize("spellings", VARIANTS[:2], ids=range(2))
def test_what_spellings_alone_would_keep_is_refused(spellings):
    table = pl.DataFrame({"age": range(8), "ill": spellings * 2})
    with pytest.raises(InfeasibleError):
        kohort.anonymize(table, policy_of(MODELS[0]))


@pytest.mark.parametrize("memory", [None, 300_000_000])
@pytest.mark.parametrize("model", MODELS, ids=[model["model"] for model in MODELS])
def test_releases_of_many_spellings_are_made_and_verified(tmp_path, model, memory):
    cells = ["flu", "Flu ", "cold", "COLD", "1", "1.0", "\u00a01", "e\u0301", "é", "hiv", " ", "NA", "na ", ""]
    table = pl.DataFrame({"age": [i % 90 for i in range(280)], "ill": cells * 20})
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_csv(source, quote_style="always")
    policy = policy_of(model).with_changes("input", missing=("", "NA"))
    release = kohort.anonymize(source, policy, output=target, memory=memory, overwrite=True)
    assert release.verdict.passed
    with target.open(newline="") as file:
        assert {row["ill"] for row in csv.DictReader(file)} == set(cells)  # as they were written
    assert kohort.verify(target, policy, original=source).passed


def test_a_tree_knows_the_spellings_of_its_leaves():
    tree = {"any": {"viral": ["Flu", "HIV"], "other": ["cold", "acne"]}}
    columns = {"age": {"role": "quasi", "type": "integer"}, "ill": {"role": "sensitive", "hierarchy": {"tree": tree}}}
    model = {"model": "t-closeness", "column": "ill", "t": 0.4, "distance": "hierarchical"}
    policy = kohort.Policy(privacy={"k": 2, "models": [model]}, columns=columns)
    table = pl.DataFrame({"age": range(40), "ill": ["Flu", "flu ", "hiv", "HIV", "Cold", "cold", "acne", " ACNE"] * 5})
    assert kohort.anonymize(table, policy).verdict.passed


@pytest.mark.promise("1.6")
def test_buckets_have_k_values_whatever_their_spelling():
    policy = policy_of().with_changes("privacy", anonymity="buckets").with_changes("algorithm", name="anatomy")
    table = pl.DataFrame({"age": range(8), "ill": ["flu", "flu ", "Flu", "FLU", "cold", "cough", "acne", "Acne"]})
    release = kohort.anonymize(table, policy)
    assert release.verdict.passed
    mixed = pl.DataFrame({"bucket": [1, 1], "ill": ["flu", "flu "], "count": [1, 1]})
    rows = pl.DataFrame({"age": ["1", "2"], "bucket": [1, 1]})
    assert not kohort.verify(rows, policy, sensitive_table=mixed).check("diversity").passed
    too_many = table.with_columns(ill=pl.Series(["flu", "flu ", "Flu", "FLU", "flu", "cough", "a", "b"]))
    with pytest.raises(InfeasibleError):
        kohort.anonymize(too_many, policy)


def test_a_formula_that_was_neutralised_is_the_value_that_it_was():
    policy = policy_of(MODELS[0], formulas="neutralised")
    release = pl.DataFrame({"age": ["[1 - 9]"] * 2, "ill": ["'+1", "1"]})
    assert not kohort.verify(release, policy).check("distinct-l-diversity").passed


def signatures(table, policy, key):
    release = pl.DataFrame([pl.Series("age", ["[1 - 2]"] * 2), table["ill"]])
    return examine(release, policy, original=table, row_order=[0, 1], ledger=Ledger(), persons=key).people.signatures


@pytest.mark.promise("1.6")
def test_a_person_in_other_words_is_recognised_and_signatures_are_those_of_values():
    policy = kohort.Policy(
        privacy={"k": 2},
        columns={"who": "identifier", "age": {"role": "quasi", "type": "integer"}, "ill": "sensitive"},
    )
    key = PersonKey("who", b"0123456789abcdef")
    original = pl.DataFrame({"who": ["Ann", "Bea"], "age": [1, 2], "ill": ["flu", "cold"]})
    again = pl.DataFrame({"who": ["Ann ", "Be\u200ba"], "age": [1, 2], "ill": ["Flu", " cold"]})
    changed = original.with_columns(ill=pl.Series(["flu", "acne"]))
    found = [signatures(table, policy, key) for table in (original, again, changed)]
    assert found[0] == found[1]
    assert found[0].keys() == found[2].keys()
    assert all(found[0][person] != found[2][person] for person in found[0])


def test_earlier_releases_are_compared_whatever_the_spelling():
    policy = policy_of()
    ages = pl.Series("age", ["[1 - 9]"] * 2)
    first = pl.DataFrame([ages, pl.Series("ill", ["flu", "cold"])])
    second = pl.DataFrame([ages, pl.Series("ill", ["flu ", "acne"])])
    seen = examine(first, policy, ledger=Ledger()).shown
    entry = Entry.sealed("", seen, None, date="2026-01-01", release="0" * 64, policy="0" * 64)
    check = kohort.verify(second, policy, against=Ledger(releases=(entry,))).check("intersection")
    assert check.figures["pairs"] == 1
    assert not check.passed


def test_init_tells_columns_with_other_spellings():
    table = pl.DataFrame({"diagnosis": ["flu", "Flu", "flu ", "cold"] * 3, "age": range(12)})
    text = propose(table).text
    assert "2 of them are other spellings of a value" in text
    assert "flu" not in text
