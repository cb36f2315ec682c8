"""What an attack proposes is a policy, and a release by that policy gives the attack less."""

import tomllib

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.policy import Policy

TREE = {"lung": ["flu", "cold"], "skin": ["acne", "eczema"], "heart": ["angina", "infarct"]}
PAIRS = list(TREE.values())


def people():
    """Pay and illness follow from the place; the place is a number that hardly two have."""
    rng = np.random.default_rng(5)
    zips = rng.permutation(4000)[:480]
    group = zips * 3 // 4000
    return pl.DataFrame(
        {
            "zip": zips,
            "age": rng.integers(20, 80, 480),
            "pay": zips // 4 + rng.integers(0, 100, 480),
            "ill": [PAIRS[one][rng.integers(2)] for one in group],
        }
    )


def policy_of(sensitive, **more):
    others = [name for name in ("pay", "ill") if name != sensitive]
    return Policy.build(
        k=4,
        quasi_identifiers=["zip", "age"],
        sensitive=[sensitive],
        identifiers=others,
        hierarchies={"ill": {"tree": TREE}} if sensitive == "ill" else {},
        algorithm="mondrian",
        seed=1,
        **more,
    )


def pasted(policy, lines):
    """A policy with lines pasted into it, table by table."""
    data, more = policy.to_dict(), tomllib.loads(lines)
    columns = data["columns"] | {name: data["columns"][name] | keys for name, keys in more.pop("columns", {}).items()}
    return Policy.from_dict(
        data | {part: data.get(part, {}) | keys for part, keys in more.items()} | {"columns": columns}
    )


def attacked(release, policy, name, table):
    [found] = kohort.attack(release, policy, original=table, only=[name]).results
    return found


@pytest.mark.parametrize(
    ("name", "sensitive"),
    [("proximity", "pay"), ("proximity", "ill"), ("inference", "ill"), ("downcoding", "ill"), ("skewness", "ill")],
)
def test_lines_that_are_pasted_help(name, sensitive):
    if name == "inference":
        pytest.importorskip("sklearn")
    table, policy = people(), policy_of(sensitive)
    before = attacked(kohort.anonymize(table, policy).table, policy, name, table)
    assert before.succeeds
    better = pasted(policy, before.mitigation.policy)
    after = attacked(kohort.anonymize(table, better).table, better, name, table)
    assert after.success.value - after.control.value < (before.success.value - before.control.value) / 2


def test_against_linkage():
    table, policy = people(), policy_of("ill")
    exact = table.select("zip", "age", "ill").cast(pl.String)
    before = attacked(exact, policy, "linkage", table)
    assert before.certain == before.attempts
    better = pasted(policy, before.mitigation.policy)
    after = attacked(kohort.anonymize(table, better).table, better, "linkage", table)
    assert not after.succeeds
    assert after.figures["fewest_candidates"] > policy.privacy.k


def test_against_joins():
    table = people()
    policy = policy_of("ill").with_changes(
        "algorithm", name="two-level", parameters={"form": "vertical", "accept_broken_guarantee": True}
    )
    release = kohort.anonymize(table, policy)
    before = attacked(release.tables, policy, "join", table)
    assert before.succeeds
    better = pasted(policy, before.mitigation.policy)
    made = kohort.anonymize(table, better)
    [absent] = kohort.attack(made.table, better, original=table, only=["join"]).not_run
    assert "single one" in absent.reason
