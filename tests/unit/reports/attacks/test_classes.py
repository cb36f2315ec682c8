"""Attacks on classes: against counting by hand, on planted weaknesses and on tables without one."""

import tomllib
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest

import kohort


def table_of(rng, classes=40, size=5, values=6):
    """Classes and sensitive values that have nothing to do with each other."""
    n = classes * size
    zips = np.repeat([f"{number:03d}" for number in range(classes)], size)
    return pl.DataFrame({"zip": zips, "ill": rng.choice(list("abcdefghij"[:values]), n)})


def attacked(table, *only, k=2, **more):
    return kohort.attack(table, quasi_identifiers=["zip"], sensitive=["ill"], k=k, only=only, **more)


def by_hand(table):
    members = defaultdict(list)
    for zip_, ill in table.rows():
        members[zip_].append(ill)
    return members.values()


@pytest.mark.parametrize("seed", range(8))
def test_homogeneity_and_background_are_what_counting_gives(seed):
    rng = np.random.default_rng(seed)
    table = table_of(rng, classes=12, size=int(rng.integers(2, 5)), values=int(rng.integers(3, 6)))
    background, homogeneity = attacked(table, "homogeneity", "background").results
    alone = sum(len(ills) for ills in by_hand(table) if len(set(ills)) == 1)
    two = sum(len(ills) for ills in by_hand(table) if len(set(ills)) <= 2)
    assert homogeneity.success.value == pytest.approx(alone / table.height)
    assert background.success.value == pytest.approx(two / table.height)
    assert homogeneity.succeeds == (alone > 0)
    needed = sorted(len(set(ills)) - 1 for ills in by_hand(table) for _ in ills)
    assert background.figures["fewest_needed"] == needed[0]
    assert background.figures["median_needed"] == needed[(len(needed) - 1) // 2]


def test_a_class_of_one_value_is_found():
    table = table_of(np.random.default_rng(1), values=10)
    table = table.with_columns(ill=pl.when(pl.col("zip") == "007").then(pl.lit("a")).otherwise("ill"))
    [found] = attacked(table, "homogeneity").results
    assert found.succeeds
    assert found.success.value == 5 / 200
    assert found.control.high < found.success.value
    assert not found.private


def test_classes_that_separate_values_are_noticed_and_others_are_not():
    rng = np.random.default_rng(2)
    alarms = Counter()
    for seed in range(20):
        clean = table_of(rng, values=8)
        weak = clean.with_columns(ill=pl.Series([f"{int(zip_) // 2}{rng.integers(2)}" for zip_ in clean["zip"]]))
        for name, table in {"clean": clean, "weak": weak}.items():
            [found] = attacked(table, "background", seed=seed).results
            alarms[name] += found.succeeds
    assert alarms["weak"] == 20
    assert alarms["clean"] <= 3


@pytest.mark.parametrize("seed", range(4))
def test_skewness_is_what_counting_gives(seed):
    rng = np.random.default_rng(seed)
    table = table_of(rng, classes=10, size=4, values=9)
    [found] = attacked(table, "skewness").results
    prior = {value: number / table.height for value, number in Counter(table["ill"]).items()}
    ratios = [[ills.count(ill) / len(ills) / prior[ill] for ill in ills] for ills in by_hand(table)]
    assert found.success.value == pytest.approx(np.mean([ratio > 2 + 1e-9 for one in ratios for ratio in one]))
    assert found.figures["largest_ratio"] == pytest.approx(max(map(max, ratios)))
    t = max(sum(abs(ills.count(ill) / len(ills) - prior[ill]) for ill in prior) / 2 for ills in by_hand(table))
    assert found.figures["t"] == pytest.approx(t)


@pytest.mark.parametrize("name", ["background", "homogeneity", "skewness"])
def test_what_is_said_to_stop_an_attack_does(name):
    rng = np.random.default_rng(7)
    table = pl.DataFrame({"zip": rng.integers(0, 500, 400), "ill": rng.choice(list("abcdef"), 400)})
    table = table.with_columns(ill=pl.when(pl.col("zip") < 60).then(pl.lit("a")).otherwise("ill"))
    policy = kohort.Policy.build(k=4, quasi_identifiers=["zip"], sensitive=["ill"], seed=1, algorithm="mondrian")
    [found] = kohort.attack(kohort.anonymize(table, policy).table, policy, only=[name]).results
    assert found.succeeds
    stopped = policy.with_changes("privacy", **tomllib.loads(found.mitigation.policy)["privacy"])
    [after] = kohort.attack(kohort.anonymize(table, stopped).table, stopped, only=[name]).results
    assert after.success.value == 0


def proximity(table, **more):
    policy = kohort.Policy.build(k=2, quasi_identifiers=["zip"], sensitive=["ill"], **more)
    return kohort.attack(table, policy, only=["proximity"])


@pytest.mark.parametrize("seed", range(4))
def test_numbers_that_are_near(seed):
    rng = np.random.default_rng(seed)
    table = table_of(rng, classes=20, size=3).with_columns(ill=pl.Series(rng.integers(0, 60, 60)))
    table = table.with_columns(ill=pl.when(pl.col("zip") < "005").then(pl.col("ill") // 20).otherwise("ill"))
    [found] = proximity(table).results
    width = table["ill"].max() - table["ill"].min()
    near = [(max(ills) - min(ills)) * 10 <= width for ills in by_hand(table)]
    assert found.success.value == pytest.approx(np.mean(near))
    largest = max(
        max(sum(abs(one - other) * 10 <= width for other in ills) for one in ills) / len(ills)
        for ills in by_hand(table)
    )
    assert found.figures["largest_share_near"] == pytest.approx(largest)


def test_values_under_one_node():
    tree = {"lung": ["flu", "cold"], "skin": ["acne", "eczema"]}
    table = pl.DataFrame(
        {"zip": ["a"] * 2 + ["b"] * 2 + ["c"] * 2, "ill": ["flu", "cold", "acne", "flu", "acne", None]}
    )
    [found] = proximity(table, hierarchies={"ill": {"tree": tree}}).results
    assert found.success.value == pytest.approx(2 / 6), "a missing value is under no node"
    assert "one group of its hierarchy" in found.sentence


def test_columns_that_attacks_make_no_sense_for():
    table = table_of(np.random.default_rng(1), values=2)
    found = attacked(table)
    why = {one.name: one.reason for one in found.not_run}
    assert why["background"].startswith("it has 2 values in all")
    assert why["proximity"].startswith("its values are neither numbers nor dates")
    [same] = attacked(table.with_columns(ill=pl.lit("a")), "homogeneity").results
    assert (same.success.value, same.control.value, same.mitigation.policy) == (1.0, 1.0, "")
