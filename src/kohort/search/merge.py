"""Merge some clusters with those that they fit best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kohort.privacy import Promise
from kohort.search.order import halved
from kohort.search.rules import rules_of

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

REACH = 500
"""How far a cluster looks for another one in an order of all clusters, to each side."""


def merged(
    array: NDArray[np.int32],
    costs: Costs,
    labels: NDArray[np.int32],
    chosen: NDArray[np.bool_],
    promises: Sequence[Promise],
    rng: np.random.Generator,
    more: int = 0,
) -> NDArray[np.int32]:
    """Merge each of the chosen clusters with one with which it keeps the promises, at the least loss.

    If there is none, it is merged with the one that raises the loss least, and with `more` others to each side in an
    order of all clusters; some join up in chains.

    Parameters
    ----------
    labels : int32[n]
        Clusters 0, 1, 2, ...; every one has a record.
    chosen : bool[clusters]
        Those to be merged.
    """
    from kohort.kernels.search.merge import boxes_of, partners

    clusters = len(chosen)
    lo, hi, sizes = boxes_of(array, labels, clusters)
    order = halved(lo, costs, 2, rng)
    members = np.argsort(labels, kind="stable")
    starts = np.append(0, np.cumsum(sizes))
    rules = rules_of(promises, len(labels))
    places = np.flatnonzero(chosen[order])
    target, repaired = partners(lo, hi, sizes, costs, rules, members, starts, order, places, REACH)
    # Small ones first: a cluster that somebody has joined may be well already, and need not join another.
    root, place_of = np.arange(clusters), np.argsort(order)
    joined = np.zeros(clusters, bool)
    for cluster in np.flatnonzero(chosen)[np.argsort(sizes[chosen], kind="stable")]:
        if not joined[cluster]:
            other = _root(root, target[cluster])
            joined[target[cluster]] = joined[cluster] = True
            root[_root(root, cluster)] = other
            place = place_of[cluster]
            for near in [] if repaired[cluster] else order[max(0, place - more) : place + more + 1]:
                joined[near] = True
                root[_root(root, near)] = other
    new = np.array([_root(root, cluster) for cluster in range(clusters)])
    return np.unique(new, return_inverse=True)[1].reshape(-1).astype(np.int32)[labels]


def _root(root: NDArray[np.int64], cluster: int) -> int:
    """The cluster that another one has become part of."""
    while root[cluster] != cluster:
        cluster = int(root[cluster])
    return cluster
