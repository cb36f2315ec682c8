"""Classes in which sensitive values are spread as evenly as can be: records dealt by value, like cards.

Records that are in the way of a promise are suppressed: as few as can be, where classes cannot be repaired.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.search.order import halved
from kohort.search.rules import rules_of
from kohort.search.terms import Terms

SIZES = 12
"""Sizes of classes from k to 2k that are tried; then some that are larger."""
LARGER = (3, 4, 6, 8, 16, 32)
"""The larger ones, in multiples of k."""
MOST_DEALT = 20_000_000
"""Records that are dealt in all ways together, at most, but in no fewer than these ways."""
FEWEST_WAYS = 6
CHUNKS = 2000
"""Records are taken out of one class in about this number of steps, at most."""


@dataclass(frozen=True)
class Deal:
    """A way to deal records: by the values of one promise first, into classes of about the same number of records.

    The records are put in the order of the sensitive values of the promise, those of a value such that near records
    are side by side, and dealt one by one to the classes. So a class has every value about as often as any other,
    and its values are as far apart in that order as they can be.
    """

    size: int
    promise: int
    also_by_others: bool
    """Whether records of a value are put in the order of the values of the other promises first."""

    def __call__(self, terms: Terms, rng: np.random.Generator) -> NDArray[np.int32]:
        """Label every record with its class."""
        near = np.argsort(halved(terms.codes.array, terms.costs, 2, rng))
        values = [promise.values for promise in terms.promises]
        first = values.pop(self.promise)
        order = np.lexsort((near, *(values if self.also_by_others else ()), first))
        labels = np.empty(terms.records, np.int32)
        labels[order] = np.arange(terms.records) % max(1, terms.records // self.size)
        return labels


def ways_to_deal(terms: Terms) -> list[Deal]:
    """Ways to deal records, small classes first; by the values of models that large classes break first."""
    several = len(terms.promises) > 1
    ranked = sorted(range(len(terms.promises)), key=lambda place: terms.promises[place].model.monotone)
    ways = [
        Deal(size, place, also)
        for size in _sizes(terms.k, terms.records)
        for also in ((False, True) if several else (False,))
        for place in ranked
    ]
    return ways[: max(FEWEST_WAYS, MOST_DEALT // terms.records)]


def dealt_without_surplus(
    terms: Terms, way: Deal, most: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.int32]] | None:
    """Suppress records by which classes break a promise, deal the others again, and so on until none is broken.

    Parameters
    ----------
    most : int
        Records that may be suppressed.

    Returns
    -------
    tuple or None
        Which records stay, and their classes; None if too many would go.
    """
    kept = np.ones(terms.records, bool)
    while kept.sum() >= terms.k:
        some = terms.among(kept)
        labels = way(some, rng)
        if not some.broken(labels).any():
            return kept, labels
        stay = without_surplus(some, labels, most - int((~kept).sum()), rng, least=1)
        if stay is None or stay.all():
            return None
        kept[kept] = stay
    return None


def _sizes(k: int, records: int) -> list[int]:
    """Sizes of classes to try, ascending."""
    small = np.linspace(k, 2 * k, min(k + 1, SIZES)).round().astype(int).tolist()
    return [size for size in [*small, *(k * times for times in LARGER)] if size <= records]


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
