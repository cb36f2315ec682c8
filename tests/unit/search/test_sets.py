"""Merging classes for the sets in them: of all ways to cut the tree, one of least joint loss."""

import itertools

import numpy as np
import polars as pl
import pytest

import kohort
from kohort import Policy
from kohort.codes.boxes import Boxes
from kohort.search import sets


class FlatJoint:
    """A box costs its width, records and sets as given."""

    def of_boxes(self, boxes, sizes):
        return (boxes.hi - boxes.lo).sum(axis=1) * sizes / 100

    def of_sets(self, losses):
        return losses


def cuts(tree, node=0):
    """All ways to publish what is below a node: as one class, or by ways of both halves."""
    children = np.flatnonzero(tree.parent == node)
    found = [[node]]
    if len(children):
        first, second = children
        found += [a + b for a, b in itertools.product(cuts(tree, first), cuts(tree, second))]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_the_cut_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 8))
    low = rng.integers(0, 50, (classes, 2)).astype(np.int32)
    boxes = Boxes(low, low + rng.integers(0, 9, (classes, 2)).astype(np.int32))
    tree = sets._tree_over(boxes, rng.integers(1, 9, classes), FlatJoint())
    assert sorted(tree.order.tolist()) == list(range(classes))
    assert np.bincount(tree.parent[1:]).max() <= 2
    whole = rng.random(len(tree.low)).round(2)
    whole[rng.random(len(whole)) < 0.2] = np.inf
    found = sets._cut(tree, whole)
    chosen = {
        node
        for node in range(len(whole))
        for own in [tree.order[tree.low[node] : tree.high[node]]]
        if len(set(found[own])) == 1 and (found == found[own[0]]).sum() == len(own)
    }
    best = min(whole[cut].sum() for cut in cuts(tree))
    assert any(set(cut) <= chosen and whole[cut].sum() == best for cut in cuts(tree))
    assert len(set(found.tolist())) == min(len(cut) for cut in cuts(tree) if set(cut) <= chosen)


def test_groups_of_similar_records_lose_no_more():
    rng = np.random.default_rng(2)
    families = [list("abcd"), list("efgh"), list("ijkl")]
    bought = [";".join(sorted(rng.choice(families[row % 3], 2, replace=False))) for row in range(120)]
    bought += [";".join(sorted(rng.choice(list("abcdefghijkl"), 2, replace=False))) for _ in range(30)]
    table = pl.DataFrame({"bought": bought})
    ncp = {}
    for recoding in ("global", "local"):
        policy = Policy.build(
            k=5,
            quasi_identifiers=["bought"],
            types={"bought": "set"},
            columns={"bought": {"separator": ";"}},
            models=[{"model": "k-m-anonymity", "column": "bought", "m": 2, "recoding": recoding}],
        )
        ncp[recoding] = kohort.anonymize(table, policy).facts["sets"]["ncp"]
    assert ncp["local"] <= ncp["global"]


def test_weight_decides_between_both_parts():
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 400),
            "bought": [";".join(sorted(set(rng.choice(list("abcdef"), 2).tolist()))) for _ in range(400)],
        }
    )
    classes = []
    for weight in (0.05, 1.0, 50.0):
        policy = Policy.build(
            k=5,
            quasi_identifiers=["age", "bought"],
            types={"bought": "set"},
            columns={"bought": {"separator": ";"}},
            weights={"bought": weight},
            hierarchies={"bought": {"tree": {"x": ["a", "b", "c"], "y": ["d", "e", "f"]}}},
            models=[{"model": "k-m-anonymity", "column": "bought", "m": 2}],
            seed=1,
        )
        classes.append(kohort.anonymize(table, policy).facts["sets"]["classes"])
    assert classes[0] > classes[1] >= classes[2]
