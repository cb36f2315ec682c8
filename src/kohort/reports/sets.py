"""What became of the sets of a release: utility loss, cost, left-out items, and the error of queries for items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kohort.audit.meaning.sets import SetTexts, set_texts
from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.release.published_loss import item_tree, sets_loss

if TYPE_CHECKING:
    from kohort.measures.base import Measure
    from kohort.policy.hierarchy import Taxonomy
    from kohort.reports.published import Published

QUERIES, SEED = 200, 1
"""Item-set queries that are asked, and what they are drawn by."""
_LARGEST = 3
"""Most items of a query."""


def refuse_sets(policy: Policy, what: str) -> None:
    """Refuse a policy with sets where they are not looked at: silence would be taken for an answer."""
    if policy.sets:
        fault = f"{what} does not look at sets, and the release has some; leave the column out of table and policy."
        raise PolicyError(policy.located(("columns", policy.sets[0]), fault))


def utility_loss(sizes: NDArray[np.int64], supports: NDArray[np.int64], items: int, records: int) -> float:
    """UL of published labels (Gkoulalas-Divanis and Loukides 2012): the sum of (2^s - 1)/(2^M - 1) * support / records.

    A label for one item loses nothing.

    Parameters
    ----------
    sizes : int64[labels]
        Items that each label stands for, s.
    supports : int64[labels]
        Records that have it.
    items : int
        Items of the whole domain, M.

    Examples
    --------
    >>> round(utility_loss(np.array([2, 3]), np.array([6, 6]), 5, 7), 6)
    0.276498
    """
    more = sizes > 1
    # for a domain of many items, 2^M is no number: the share is that of the exponents
    share = np.exp2(sizes[more].astype(float) - items) * -np.expm1(-sizes[more] * math.log(2))
    return float((share / -math.expm1(-items * math.log(2)) * supports[more]).sum() / records)


def set_figures(published: Published, how: Measure) -> dict[str, dict[str, Any]]:
    """Figures about each column of sets; those that need the original are left out without it."""
    return {name: _figures(published, name, how) for name in published.policy.sets}


def _figures(published: Published, name: str, how: Measure) -> dict[str, Any]:
    policy, counted = published.policy, published.counts[name]
    separator = policy.columns[name].separator
    texts = set_texts(counted.texts, separator, published=True)
    supports = np.bincount(texts.codes, np.repeat(counted.times, np.diff(texts.starts)), len(texts.labels)).astype(
        np.int64
    )
    before = None if published.original is None else published.original.sets[name]
    there = None if before is None else set_texts(before.texts, separator, published=False)
    tree = item_tree(policy, name, (texts if there is None else there).labels, texts.labels)
    nodes = np.array([tree.node_of(label) or 0 for label in texts.labels], np.int64)
    sizes = (tree.last_leaf - tree.first_leaf + 1)[nodes].astype(np.int64)
    found: dict[str, Any] = {
        "labels": len(texts.labels),
        "utility_loss": utility_loss(sizes, supports, tree.n_leaves, published.rows),
        "published_loss": sets_loss(policy, name, counted, None, how),
    }
    if there is None or before is None:
        return found
    shown = np.zeros(tree.n_nodes, np.int64)
    np.add.at(shown, nodes, supports)
    for node in range(1, tree.n_nodes):  # what is above a node may stand for it
        shown[node] += shown[tree.parent[node]]
    leaves = tree.codes(there.labels).astype(np.int64)
    occurs = np.bincount(there.codes, np.repeat(before.times, np.diff(there.starts)), len(there.labels)).astype(
        np.int64
    )
    withheld = int(before.times.sum()) - published.rows
    gone = np.maximum(occurs - np.where(leaves >= 0, shown[tree.leaf_node[leaves]], 0) - withheld, 0)
    return found | {
        "loss": sets_loss(policy, name, counted, before, how),
        "items": int(occurs.sum()),
        "left_out_at_least": int(gone.sum()),
        "query_error": _query_error(texts, counted.times, nodes, sizes, there, before.times, leaves, tree),
    }


def _query_error(
    texts: SetTexts,
    times: NDArray[np.int64],
    nodes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    there: SetTexts,
    before: NDArray[np.int64],
    leaves: NDArray[np.int64],
    tree: Taxonomy,
) -> float | None:
    """Average relative error of counts of records that have some items, which are those of a random record.

    A label of s items may stand for any of its 2^s - 1 subsets but the empty one, so it has a given item with the
    probability 2^(s-1) / (2^s - 1).
    """
    filled = np.flatnonzero(np.diff(there.starts))
    if not len(filled):
        return None
    rng = np.random.default_rng(SEED)
    chances = before[filled] / before[filled].sum()
    has = 0.5 / -np.expm1(-sizes * math.log(2))
    of = np.repeat(np.arange(len(texts.starts) - 1), np.diff(texts.starts))
    of_there = np.repeat(np.arange(len(there.starts) - 1), np.diff(there.starts))
    errors = []
    for text in rng.choice(filled, QUERIES, p=chances):
        own = there.codes[there.starts[text] : there.starts[text + 1]]
        asked = rng.choice(own, min(len(own), int(rng.integers(1, _LARGEST + 1))), replace=False)
        true, likely = np.ones(len(there.starts) - 1, bool), np.ones(len(texts.starts) - 1)
        for item in asked:
            holds = np.zeros(len(true), bool)
            holds[of_there[there.codes == item]] = True
            true &= holds
            node = int(tree.leaf_node[leaves[item]])
            above = np.zeros(tree.n_nodes, bool)
            while node >= 0:
                above[node] = True
                node = int(tree.parent[node])
            mine = above[nodes][texts.codes]
            chance = np.zeros(len(likely))
            np.maximum.at(chance, of[mine], has[texts.codes[mine]])
            likely *= chance
        actual = float((true * before).sum())
        errors.append(abs(float((likely * times).sum()) - actual) / actual)
    return float(np.mean(errors))
