"""Suppress the records that are in the way of a promise: as few as can be, where classes cannot be repaired."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kohort.search.rules import rules_of
from kohort.search.terms import Terms

CHUNKS = 2000
"""Records that are taken out of one class in about so many steps, at most."""


def without_surplus(
    terms: Terms, labels: NDArray[np.int32], most: int, rng: np.random.Generator, least: int
) -> NDArray[np.bool_] | None:
    """Which records stay when those are suppressed by which classes break the promises; None if too many would go.

    A class that breaks them to the end goes as a whole.

    Parameters
    ----------
    labels : int32[records]
        Classes 0, 1, 2, ...
    most : int
        Records that may go.
    least : int
        Records of a class that must stay, or all of them go.
    """
    from kohort.kernels.search.surplus import surplus

    rules = rules_of(terms.promises, terms.records)
    kept = np.ones(terms.records, bool)
    # Records of a class in a random order: which of those alike go is left to chance.
    order = rng.permutation(terms.records)
    members = order[np.argsort(labels[order], kind="stable")].astype(np.int32)
    starts = np.append(0, np.cumsum(np.bincount(labels)))
    for label in np.flatnonzero(terms.broken(labels)).tolist():
        mine = members[starts[label] : starts[label + 1]]
        gone = np.zeros(len(mine), bool)
        fine = surplus(rules, mine, least, most, max(1, most // CHUNKS), gone)
        kept[mine] = ~gone if fine else False
        most -= int((~kept[mine]).sum())
        if most < 0:
            return None
    return kept
