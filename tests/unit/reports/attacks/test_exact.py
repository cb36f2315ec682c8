"""Attacks that count what follows for certain: against plain code, on small tables; and where they do not apply."""

import builtins
from collections import defaultdict
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.weak import in_bins, made, people, policy, tight
from kohort.errors import PolicyError
from kohort.policy.hierarchy import Taxonomy

TREE = {"lung": {"mild": ["cold", "flu"], "severe": ["cancer", "fibrosis"]}, "skin": ["acne", "eczema"]}


def reasons(found):
    return {one.name: one.reason for one in found.not_run}


@pytest.mark.parametrize("seed", range(3))
def test_downcoding_counts_the_ends_that_somebody_has(seed):
    rng = np.random.default_rng(seed)
    table = people(rng).filter(pl.col("group") < 8).with_columns(group=pl.col("group") // 2)
    release = tight(table) if seed else in_bins(table)
    [found] = kohort.attack(release, policy(), original=table.select("x", "y", "s"), only=["downcoding"]).results
    true = cells = 0
    for row in release.unique(["x", "y"]).iter_rows(named=True):
        size = release.filter((pl.col("x") == row["x"]) & (pl.col("y") == row["y"])).height
        ends = {name: tuple(map(int, row[name][1:-1].split(" - "))) for name in "xy" if row[name].startswith("[")}
        inside = [
            one for one in table.iter_rows(named=True) if all(a <= one[name] <= b for name, (a, b) in ends.items())
        ]
        cells += size * len(ends)
        true += sum(any(one[name] == end for one in inside) for name, pair in ends.items() for end in pair)
    assert found.success.value == pytest.approx(true / cells)
    assert found.figures["generalized_cells"] == cells


def test_downcoding_of_nodes_with_two_children():
    tree = Taxonomy.from_tree(TREE, "ill")
    quasi = kohort.Policy.build(k=2, quasi_identifiers=["ill"], hierarchies={"ill": {"tree": TREE}})
    original = pl.DataFrame({"ill": ["cold", "flu", "cold", "cancer", "acne", "eczema", "cold", "cold"]})
    release = pl.DataFrame({"ill": ["mild", "mild", "lung", "lung", "skin", "skin", "*", "*"]})
    [found] = kohort.attack(release, quasi, original=original, only=["downcoding"]).results
    assert tree.height_edges == 3
    assert found.success.value == 1.0, "both children of every node are there"
    narrower = original.with_columns(ill=pl.Series(["cold", "cold", "cold", "cancer", "acne", "acne", "cold", "cold"]))
    [found] = kohort.attack(release, quasi, original=narrower, only=["downcoding"]).results
    assert found.success.value == 6 / 8, "of mild and skin, one child each is not"


def left_by_hand(release, original):
    """For each record, the rows that it has in some perfect matching: all of them are looked at."""
    cells = [tuple(map(int, text.strip("[]").split(" - "))) for text in release["x"]]
    spans = [(one[0], one[-1]) for one in cells]
    values = original["x"].to_list()
    left = defaultdict(set)
    for order in permutations(range(len(values))):
        if all(spans[row][0] <= values[record] <= spans[row][1] for record, row in enumerate(order)):
            for record, row in enumerate(order):
                left[record].add(row)
    return [len(left[record]) for record in range(len(values))]


@pytest.mark.parametrize("seed", range(4))
def test_matching_counts_the_rows_of_perfect_matchings(seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.integers(0, 9, 6))
    low, high = np.maximum(x - rng.integers(0, 4, 6), 0), x + rng.integers(0, 4, 6)
    shown = [f"[{a} - {b}]" if a < b else f"{a}" for a, b in zip(low, high, strict=True)]
    original = pl.DataFrame({"x": x, "y": [5] * 6, "s": ["s"] * 6})
    release = pl.DataFrame({"x": shown, "y": ["5"] * 6, "s": ["s"] * 6})[rng.permutation(6)]
    promise = policy(k=6).with_changes("privacy", anonymity="matchings").with_changes("algorithm", name="nh")
    [found] = kohort.attack(release, promise, original=original, only=["matching"]).results
    left = left_by_hand(release, original)
    assert found.figures["fewest_left"] == min(left)
    assert found.figures["singled_out"] == sum(one == 1 for one in left)
    assert found.success.value == pytest.approx(np.mean([one < 6 for one in left]))


def test_classes_say_nothing_about_rows_that_may_all_differ():
    rng = np.random.default_rng(1)
    table = people(rng).head(60).select("x", "y", "s")
    promise = policy(k=3, seed=1).with_changes("privacy", anonymity="matchings").with_changes("algorithm", name="nh")
    found = kohort.attack(kohort.anonymize(table, promise).table, promise, original=table)
    assert {"homogeneity", "background", "skewness", "proximity", "downcoding", "minimality"} <= set(reasons(found))
    [matching] = [one for one in found.results if one.name == "matching"]
    assert not matching.succeeds
    given = made("downcoding", 1, weak=False)
    assert "matching" in reasons(kohort.attack(given.release, given.policy, only=["matching"], **given.more))


def test_buckets_are_refused():
    table = people(np.random.default_rng(1)).select("x", "y", "s")
    promise = policy().with_changes("privacy", anonymity="buckets").with_changes("algorithm", name="anatomy")
    with pytest.raises(PolicyError, match="everybody is found"):
        kohort.attack(table, promise)


def test_minimality_needs_a_promise():
    table = people(np.random.default_rng(1))
    found = kohort.attack(in_bins(table), policy(), original=table.select("x", "y", "s"), only=["minimality"])
    assert "promises nothing" in reasons(found)["minimality"]
    strict = policy(k=6, models=[{"model": "distinct-l-diversity", "column": "s", "l": 2}])
    found = kohort.attack(in_bins(table), strict, original=table.select("x", "y", "s"), only=["minimality"])
    assert "2 k = 12" in reasons(found)["minimality"]


def test_without_scikit_learn_inference_says_so(monkeypatch):
    real = builtins.__import__

    def absent(name, *rest, **more):
        if name.split(".")[0] == "sklearn":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr("kohort.reports.learning.import_module", absent)
    table = people(np.random.default_rng(1))
    found = kohort.attack(in_bins(table), policy(), original=table.select("x", "y", "s"), only=["inference"])
    assert 'pip install "kohort[sklearn]"' in reasons(found)["inference"]


def test_numbers_are_inferred_nearly():
    rng = np.random.default_rng(1)
    table = people(rng)
    weak = table.with_columns(s=pl.col("group") * 100 + pl.Series(rng.integers(0, 50, table.height)))
    [found] = kohort.attack(in_bins(weak), policy(), original=weak.select("x", "y", "s"), only=["inference"]).results
    assert found.succeeds
    assert "nearly the 's'" in found.sentence


def test_of_many_categories_the_most_frequent_are_learned():
    rng = np.random.default_rng(1)
    table = people(rng)
    rare = pl.format("rare{}", pl.Series(rng.integers(0, 90, table.height)))
    frequent = pl.format("s{}", pl.col("group") // 15)
    weak = table.with_columns(s=pl.when(pl.Series(rng.random(table.height) < 0.4)).then(rare).otherwise(frequent))
    [found] = kohort.attack(in_bins(weak), policy(), original=weak.select("x", "y", "s"), only=["inference"]).results
    assert found.succeeds
    assert found.success.value < 0.75, "the rare ones are never guessed"
