"""The checks in Spark say what those of the audit say, in the same words, on good releases and broken ones."""

import re

import polars as pl
import pytest

import kohort.spark
from helpers.features import ASKED, policy_of
from kohort.audit import verify
from kohort.audit.checklist import Need, refuse_unanswerable
from kohort.audit.spark.verify import verify as verify_in_spark
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.release.engines.features import SPARK, refuse
from kohort.release.plan import plan_of

from .conftest import only
from .frames import in_spark

TREE = {"Lung": ["Asthma", "Flu"], "Skin": ["Acne", "Eczema"]}


def policy(k=2, privacy=None, columns=None, **sections):
    base = {
        "age": {"role": "quasi", "type": "integer"},
        "illness": {"role": "quasi", "hierarchy": {"tree": TREE}},
        "pay": "sensitive",
        "Town.of birth": "sensitive",
        "name": "identifier",
    }
    return Policy(privacy={"k": k, **(privacy or {})}, columns={**base, **(columns or {})}, **sections)


ORIGINAL = pl.DataFrame(
    {
        "name": ["n1", "n2", "n3", "n4", "n5"],
        "age": [21, 29, 40, 45, 45],
        "illness": ["Asthma", "Flu", "Acne", "Acne", None],
        "pay": [1.5, 2.0, 3.0, 3.0, None],
        "Town.of birth": ["Rome", "Oslo", "Rome", "", "Rome"],
    }
)
GOOD = pl.DataFrame(
    {
        "age": ["[40 - 45]", "[21 - 29]", "[21 - 29]", "[40 - 45]", "[40 - 45]"],
        "illness": ["*", "Lung", "Lung", "*", "*"],
        "pay": [None, 1.5, 2.0, 3.0, 3.0],
        "Town.of birth": ["Rome", "Oslo", "Rome", "", "Rome"],
    }
)


def changed(row, **cells):
    return GOOD.with_columns(
        pl.when(pl.int_range(pl.len()) == row).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in cells.items()
    )


DIVERSE = {"model": "distinct-l-diversity", "column": "pay", "l": 2}
CLOSE = {"model": "t-closeness", "column": "pay", "t": 0.3}
SPREAD = {"model": "entropy-l-diversity", "column": "Town.of birth", "l": 1.5}
RISK = {"model": "average-risk", "most": 0.4}
STARRED = changed(0, age="*", illness="*")
STRANGE = changed(1, illness="Brain", age="[30 - 39]", pay=9.0).with_columns(name=pl.lit("n"), extra=pl.lit("1"))

# What is published, the policy, and the checks that fail.
CASES = {
    "good": (GOOD, policy(privacy={"models": [DIVERSE, SPREAD, RISK]}), set()),
    "starred": (
        STARRED,
        policy(privacy={"suppression_limit": 0.2}, output={"suppressed": "starred"}),
        set(),
    ),
    "strange": (
        pl.concat([STRANGE, STRANGE.head(1)]),
        policy(),
        {"columns", "k", "rows", "domain", "coverage", "values"},
    ),
    "a column too few": (GOOD.drop("age"), policy(), {"columns", "k"}),
    "missing": (
        changed(0, illness=None).head(4),
        policy(privacy={"missing": "suppress"}),
        {"k", "missing", "suppression"},
    ),
    "starred and precise": (
        STARRED,
        policy(columns={"age": {"role": "quasi", "type": "integer", "snap": 10}}, output={"suppressed": "starred"}),
        {"suppression", "precision"},
    ),
    "models": (
        changed(0, pay=3.0),
        policy(privacy={"models": [DIVERSE, CLOSE, RISK | {"most": 0.3}]}),
        {"values", "distinct-l-diversity", "t-closeness", "average-risk"},
    ),
    "spellings": (
        changed(1, **{"Town.of birth": "rome\u00a0"}),
        policy(privacy={"models": [DIVERSE | {"column": "Town.of birth"}]}),
        {"values", "distinct-l-diversity"},
    ),
}


@only("local")
@pytest.mark.parametrize("name", CASES)
def test_spark_and_the_audit_say_the_same(spark, name):
    release, promised, fails = CASES[name]
    there = verify(release, promised, original=ORIGINAL)
    here = verify_in_spark(in_spark(spark, release), promised, original=in_spark(spark, ORIGINAL))
    assert {check.name for check in here.checks if not check.passed} == fails
    assert here.facts == there.facts
    assert [check.name for check in here.checks] == [check.name for check in there.checks]
    for ours, theirs in zip(here.checks, there.checks, strict=True):
        # The audit adds whether k would hold in another reading of missing cells.
        assert ours.sentence == re.sub("; it would hold only if .*", ".", theirs.sentence)
        assert ours.figures.items() <= theirs.figures.items()


def test_a_good_release_and_a_broken_one_in_every_shape_of_spark(spark):
    original = in_spark(spark, ORIGINAL)
    promised = policy(privacy={"models": [DIVERSE]})
    assert verify_in_spark(in_spark(spark, GOOD), promised, original=original).passed
    broken = changed(1, pay=2.0, age="[30 - 39]")
    found = verify_in_spark(in_spark(spark, broken), promised, original=original)
    assert {check.name for check in found.checks if not check.passed} == {
        "k",
        "coverage",
        "values",
        "distinct-l-diversity",
    }


@only("local")
def test_who_knows_the_other_sensitive_columns_is_asked_for_by_strict(spark):
    promised = policy(privacy={"models": [DIVERSE]})
    here = verify_in_spark(in_spark(spark, GOOD), promised, strict=True).check("distinct-l-diversity")
    there = verify(GOOD, promised, strict=True).check("distinct-l-diversity")
    assert not here.passed
    assert (here.sentence, here.figures) == (there.sentence, there.figures)


@only("local")
def test_what_spark_cannot_check_is_refused(spark):
    asked = policy(
        privacy={
            "missing": "wildcard",
            "person": "name",
            "models": [{"model": "k-map", "k": 3, "population": "p.csv"}],
        },
        output={"bounds": True, "order": "kept"},
    )
    with pytest.raises(PolicyError) as caught:
        verify_in_spark(in_spark(spark, GOOD), asked)
    assert len(caught.value.faults) == 5
    with pytest.raises(PolicyError, match="anonymity = 'matchings'"):
        verify_in_spark(in_spark(spark, GOOD), policy(privacy={"anonymity": "matchings"}))


@only("local")
def test_columns_that_differ_in_case_are_two_and_namesakes_are_refused(spark):
    twin = GOOD.rename({"pay": "AGE"})
    two = policy(columns={"AGE": "sensitive"})
    verdict = verify_in_spark(in_spark(spark, twin), two)
    assert verdict.check("columns").sentence == verify(twin, two).check("columns").sentence
    with pytest.raises(DataError, match="'age' heads more than one column"):
        verify_in_spark(in_spark(spark, GOOD).selectExpr("*", "age"), policy())
    with pytest.raises(DataError, match="column 'age' holds lists"):
        verify_in_spark(in_spark(spark, GOOD).selectExpr("array(1) as age"), policy())


@pytest.mark.promise("6.1")
@pytest.mark.parametrize("feature", ASKED)
def test_what_is_not_checked_in_spark_is_not_made_there(feature):
    """The auditor's list and the table of the engines are written apart: whatever the one refuses, the other does."""
    asked = policy_of(feature)
    try:
        refuse_unanswerable(asked, ~Need.ORIGINAL, lambda question: ".")
    except PolicyError:
        assert feature in SPARK.lacks
        with pytest.raises(PolicyError, match="cannot be used on Spark"):
            refuse(SPARK, plan_of(asked))


@only("local")
def test_patterns_stand_for_columns_of_a_frame_in_spark(spark):
    table = pl.DataFrame({"age": [20 + row % 30 for row in range(200)], "q1": ["ab"[row % 2] for row in range(200)]})
    frame = in_spark(spark, table.with_columns(name=pl.lit("x")))
    given = {"privacy": {"k": 4}, "algorithm": {"name": "mondrian", "seed": 1}}
    policy = Policy.from_dict(given | {"columns": {"a*": "quasi", "q*": "sensitive", "*": "identifier"}})
    release = kohort.spark.anonymize(frame, policy).persist()
    assert release.columns == ["age", "q1"]
    assert kohort.spark.verify(release, policy, original=frame).passed
    assert kohort.spark.verify(release, policy).passed
