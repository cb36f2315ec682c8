"""Tables so small that every way to form classes, and to suppress records, can be looked at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes
from kohort.privacy import Histogram
from kohort.search.terms import Terms

MOST_RECORDS = 12
"""A table with more records is not looked at: it has too many sets of them."""
MOST_SETS = 1 << 18
"""Sets of records that are judged, at most."""
MOST_PARTITIONS = 3000
"""Partitions that are looked at one by one, at most: where the cheapest one has classes that are published alike."""


class Answer(NamedTuple):
    """The best way to keep some terms, and whether all were looked at."""

    kept: NDArray[np.bool_]
    """Records that are published."""
    boxes: Boxes | None
    """Those of the published records; None if no way was found."""
    proven: bool
    """Whether there is no other: none with fewer suppressed records, or none at all."""


def exhausted(terms: Terms, allowance: int) -> Answer:
    """Look at every partition of a small table into classes; at those with fewest suppressed records first.

    Parameters
    ----------
    allowance : int
        Records that may be suppressed.
    """
    n = terms.records
    everyone = np.ones(n, bool)
    if n > MOST_RECORDS:
        return Answer(everyone, None, False)
    # A box may be wider than its class; what that does for a promise about a population is not looked at.
    proven = not terms.coverages
    whole, judged = None if terms.compares else _Sets(terms), 0
    for gone in range(min(allowance, n - terms.k) + 1):
        for withheld in itertools.combinations(range(n), gone):
            kept = everyone.copy()
            kept[list(withheld)] = False
            if whole is not None and not whole.can_part(kept):
                continue
            judged += 1 << (n - gone)
            if judged > MOST_SETS:
                return Answer(everyone, None, False)
            some = terms.among(kept)
            boxes, all_seen = _Sets(some).parted()
            if boxes is not None:
                return Answer(kept, boxes, proven)
            proven &= all_seen
    return Answer(everyone, None, proven)


class _Sets:
    """All sets of some records, as bit masks: which keep the terms as a class, and what they cost."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        n = terms.records
        self.everyone = (1 << n) - 1
        self.masks = np.arange(1 << n)
        inside = (self.masks[1:, None] >> np.arange(n)) & 1 == 1
        # Every set is a class of its own table, in which records occur once for each set that they are in.
        group, record = np.nonzero(inside)
        array = terms.codes.array
        self.lo = np.where(inside[:, :, None], array, np.iinfo(np.int32).max).min(axis=1).astype(np.int32)
        self.hi = np.where(inside[:, :, None], array, -1).max(axis=1).astype(np.int32)
        sizes = inside.sum(axis=1)
        fine = sizes >= terms.k
        for promise in terms.promises:
            fine &= promise.model.keeps(Histogram.of(group, promise.values[record]), promise.table)
        for coverage in terms.coverages:
            fine &= coverage.kept(Boxes(self.lo, self.hi), sizes)
        self.fine = np.append(False, fine)
        self.best, self.choice = self._solved(sizes)

    def _solved(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The least loss of every set of records in classes, and the class of its first record."""
        from kohort.kernels.costs import box_cost

        cost = np.full(len(self.masks), np.inf)
        for mask in np.flatnonzero(self.fine).tolist():
            cost[mask] = sizes[mask - 1] * box_cost(self.terms.costs, self.lo[mask - 1], self.hi[mask - 1])
        # The record of the lowest bit is in some class: whichever that is, the rest is a smaller set.
        self.classes = [
            self.masks[(self.masks & -self.masks == 1 << bit) & self.fine] for bit in range(self.terms.records)
        ]
        best, choice = np.full(len(self.masks), np.inf), np.zeros(len(self.masks), np.int64)
        best[0] = 0
        for rest in range(1, len(self.masks)):
            own = self._of(rest)
            if len(own):
                losses = cost[own] + best[rest ^ own]
                best[rest], choice[rest] = losses.min(), own[losses.argmin()]
        return best, choice

    def _of(self, rest: int) -> NDArray[np.int64]:
        """Classes that the first record of a set can be in."""
        own = self.classes[(rest & -rest).bit_length() - 1]
        fitting: NDArray[np.int64] = own[own & ~rest == 0]
        return fitting

    def can_part(self, kept: NDArray[np.bool_]) -> bool:
        """Whether some of the records can be parted into classes, if it does not matter who else is published."""
        return bool(np.isfinite(self.best[int((kept * (1 << np.arange(len(kept)))).sum())]))

    def parted(self) -> tuple[Boxes | None, bool]:
        """Boxes of all records, at the least loss if no two classes are published alike; and whether all were seen."""
        if not np.isfinite(self.best[-1]):
            return None, True
        seen_all = True
        for number, parts in enumerate(itertools.chain([self._cheapest()], self._partitions(self.everyone))):
            if number > MOST_PARTITIONS:
                return None, False
            labels = np.zeros(self.terms.records, np.int32)
            for label, part in enumerate(parts):
                labels[(part >> np.arange(self.terms.records)) & 1 == 1] = label
            boxes = self.terms.published(labels)
            if boxes is not None:
                return boxes, True
            # Boxes are widened one after the other, which need not find the only way.
            seen_all = False
        return None, seen_all

    def _cheapest(self) -> list[int]:
        rest, parts = self.everyone, []
        while rest:
            parts.append(int(self.choice[rest]))
            rest ^= parts[-1]
        return parts

    def _partitions(self, rest: int) -> Iterator[list[int]]:
        """All ways to part a set of records into classes."""
        if not rest:
            yield []
        for part in self._of(rest).tolist():
            if np.isfinite(self.best[rest ^ part]):
                for others in self._partitions(rest ^ part):
                    yield [part, *others]
