"""The public verdict tells nothing that does not follow from the release and its policy."""

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kohort
from kohort.errors import KohortError
from property.strategies import requests

RANDOM = {"input_keyed"}
"""Hashes with a random key."""
SENTENCES_ABOUT_THE_ORIGINAL = {
    "rows": "the release has no more rows than the original.",
    "coverage": "every published value covers the original, row by row.",
    "values": "the other columns hold the values of the original.",
    "sensitive": "every bucket has the sensitive values of its records.",
    "k": "every record could be at least {k} rows, each in a perfect matching of records and rows.",
}
"""What a check says that needs the original, if it passed: the same for every release."""


def documents(frame, policy):
    """The release as rows, and its public document without what is random."""
    release = kohort.anonymize(frame, policy)
    public = release.public()
    public["hashes"] = {name: value for name, value in public["hashes"].items() if name not in RANDOM}
    tables = {name: table.rows() for name, table in release.tables.items()}
    return tables, json.dumps(public, sort_keys=True), release


def assert_follows(release, policy):
    """Every figure of the public document, computed again without the original."""
    public = release.public()
    assert set(public) - {"warning"} == {
        "schema",
        "passed",
        "reason",
        "facts",
        "checks",
        "hashes",
        "versions",
        "loss",
    } | {
        "promise",
        "as_is",
    }
    tables = dict(release.tables)
    outsider = kohort.verify(
        tables.get("quasi", release.table), policy, sensitive_table=tables.get("sensitive")
    ).public()
    known = {check.name: check for check in outsider.checks}
    for check in public["checks"]:
        mine = known.get(check["name"])
        if mine is not None and mine.passed:
            assert (check["sentence"], check["figures"]) == (mine.sentence, dict(mine.figures))
            continue
        assert check["sentence"] == SENTENCES_ABOUT_THE_ORIGINAL[check["name"]].format(k=policy.privacy.k)
        constant = {"method", "released", "k", "suppressed_rows"}
        assert all(value == 0 or name in constant for name, value in check["figures"].items())
    assert [public["promise"], public["as_is"]] == [outsider.to_dict()[name] for name in ("promise", "as_is")]
    facts = dict(public["facts"])
    if policy.privacy.anonymity == "matchings":
        assert facts["classes"] is facts["smallest_class"] is None
    else:
        assert facts == outsider.to_dict()["facts"]
    assert facts["rows_original"] is facts["withheld"] is None
    assert kohort.measure(release.tables.get("quasi", release.table), None, policy) == release.public_loss
    assert public["loss"]["by_column"] == release.public_loss.by_column


@pytest.mark.slow
@pytest.mark.promise("4.3")
@pytest.mark.parametrize("algorithm", ["k-member", "incognito", "nh", "anatomy"])
@given(data=st.data())
@settings(max_examples=6, deadline=None)
def test_everybody_can_compute_the_public_verdict(algorithm, data):
    frame, policy = data.draw(requests(algorithm, max_rows=16))
    if data.draw(st.booleans()):
        policy = policy.with_changes("output", suppressed="starred")
    try:
        release = kohort.anonymize(frame, policy)
    except KohortError:
        assume(False)
    assert_follows(release, policy)
    if algorithm != "anatomy":
        exact = kohort.measure(release.table, frame, policy)
        assert exact == release.loss


def hidden_pairs(draw):
    """Two tables that differ in what a release hides, and a policy: classes of equal records far from each other."""
    k = draw(st.integers(2, 4))
    ages = [20, 30, 40, 60, 88]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    tables = []
    extremes = [draw(st.lists(st.integers(0, 40), min_size=2 * k, max_size=2 * k)) for _ in range(2)]
    outliers = [draw(st.integers(-10_000, 10_000)) for _ in range(2)]
    first = rng.integers(0, 3, 7 * k + 1)
    for extreme, outlier in zip(extremes, outliers, strict=True):
        age = [10 - one for one in extreme[:k]] + [90 + one for one in extreme[k:]]
        age += [value for value in ages for _ in range(k)] + [outlier]
        day = [dt.date(2000, 1, 1) + dt.timedelta(days=value) for value in age]
        zips = [f"{13000 + 7 * min(max(value, 10), 90)}" for value in age[:-1]] + [f"{90000 + outlier % 1000}"]
        word = [None if row == 7 * k else "ab"[row % 2] for row in range(7 * k + 1)]
        word[: 7 * k] = ["a"] * (7 * k)
        tables.append(
            pl.DataFrame(
                {"age": age, "day": day, "zip": zips, "word": word, "ill": [f"ill {one}" for one in first]},
                schema_overrides={"word": pl.String},
            )
        )
    policy = kohort.Policy.model_validate(
        {
            "privacy": {"k": k, "missing": "suppress", "suppression_limit": 0.3},
            "columns": {
                "age": {"role": "quasi", "bottom": 10, "top": 90},
                "day": {"role": "quasi", "bottom": "2000-01-11", "top": "2000-03-31"},
                "zip": {"role": "quasi", "hierarchy": {"prefix": [4, 3, 2]}},
                "word": {"role": "quasi"},
                "ill": {"role": "sensitive"},
            },
            "algorithm": {"seed": 1, "name": draw(st.sampled_from(["k-member", "mondrian"]))}
            | {"measure": draw(st.sampled_from(["ncp", "iloss", "leaf", "whd"]))},
            "output": {"order": "kept"},
        }
    )
    return tables, policy


@pytest.mark.promise("4.3")
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_what_is_hidden_does_not_change_the_public_verdict(data):
    """Values beyond the borders, and all of a withheld record: another original with the same release."""
    (one, other), policy = hidden_pairs(data.draw)
    shown, public, release = documents(one, policy)
    again, public_again, other_release = documents(other, policy)
    assume(shown == again)
    assert public == public_again
    # The exact figure is another one: it could be solved for what is hidden, and is private.
    if one["age"].max() - one["age"].min() != other["age"].max() - other["age"].min():
        assert release.loss != other_release.loss or policy.algorithm.measure.name in ("leaf", "iloss")


@pytest.mark.slow
@pytest.mark.promise("4.3")
def test_one_more_withheld_record_does_not_change_the_public_verdict():
    """How many records were left out is not to be seen in the release."""
    frame = pl.DataFrame({"age": [20] * 5 + [40] * 5 + [None], "ill": ["a", "b"] * 5 + ["a"]})
    policy = kohort.Policy.build(
        k=2,
        quasi_identifiers=["age"],
        sensitive=["ill"],
        seed=1,
        missing="suppress",
        suppression_limit=0.5,
        output={"order": "kept"},
    )
    several = pl.concat([frame, frame.tail(1), frame.tail(1)])
    (shown, public, one), (again, public_again, three) = documents(frame, policy), documents(several, policy)
    assert shown == again
    assert public == public_again
    assert (one.verdict.facts.withheld, three.verdict.facts.withheld) == (1, 3)
    assert one.loss.total < three.loss.total
