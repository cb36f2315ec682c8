"""k^m-anonymity of the sets of classes: Apriori anonymization, each item alike in a class or in groups of records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohort.codes.sets import SetCodes
from kohort.kernels.sets.classes import classes_apriori
from kohort.measures.base import Measure
from kohort.search.sets import Ints, Repaired

_FIRST = 4
"""Most frequent items of a record, by which it is put beside similar ones."""


@dataclass(frozen=True)
class Apriori:
    """Repairs the sets of classes over a tree of their items (Terrovitis, Mamoulis and Kalnis 2008, 2011).

    Time is that of looking at every set of at most m items of every record, some times over; memory m times the items.
    """

    codes: SetCodes
    measure: Measure
    k: int
    m: int
    local: bool
    """Whether a class is cut into halves of similar records as long as these lose less than it does as one."""

    def __call__(self, rows: Ints, bounds: Ints, allowed: Ints) -> Repaired:
        """Repair classes; see `Repair`."""
        if not self.local:
            return self._alike(rows, bounds, allowed)
        return self._in_groups(rows, bounds, allowed)

    def _alike(self, rows: Ints, bounds: Ints, allowed: Ints) -> Repaired:
        codes, tree = self.codes, self.codes.taxonomy
        classes = len(bounds) - 1
        room = int(codes.sizes[rows].sum())
        labels, ends = np.empty(room, np.int32), np.zeros(len(rows) + 1, np.int64)
        losses, gone = np.empty(classes), np.empty(classes, np.int64)
        filled = classes_apriori(
            codes.items,
            codes.starts,
            np.ascontiguousarray(rows, np.int64),
            np.ascontiguousarray(bounds, np.int64),
            tree.parent,
            tree.first_leaf,
            tree.last_leaf,
            tree.leaf_node,
            self.measure.node_costs(tree).astype(np.float64),
            self.k,
            self.m,
            np.ascontiguousarray(allowed, np.int64),
            labels,
            ends,
            losses,
            gone,
        )
        return Repaired(labels[:filled].copy(), ends, tree.labels, losses, gone)

    def _in_groups(self, rows: Ints, bounds: Ints, allowed: Ints) -> Repaired:
        """Halves of halves, similar records together, as long as that loses less."""
        groups, owner = [], []
        for number, (low, high) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            parts = self._halved(self._by_items(rows[low:high]), int(allowed[number]))
            groups += parts
            owner += [number] * len(parts)
        ends = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
        sizes = np.array([int(self.codes.sizes[group].sum()) for group in groups])
        whole = np.bincount(owner, sizes, len(allowed))
        share = (allowed[owner] * sizes) // np.maximum(whole[owner], 1).astype(np.int64)
        ordered = np.concatenate(groups)
        found = self._alike(ordered, ends, share)
        place = np.empty(self.codes.records, np.int64)
        place[ordered] = np.arange(len(ordered))
        found = found.of(place[rows])
        classes = len(bounds) - 1
        losses = np.bincount(owner, found.losses, classes).astype(np.float64)
        gone = np.bincount(owner, found.gone, classes).astype(np.int64)
        return Repaired(found.labels, found.starts, found.texts, losses, gone)

    def _by_items(self, rows: Ints) -> Ints:
        """The records such that those with the same frequent items stand together."""
        codes = self.codes
        often = np.bincount(codes.items, minlength=codes.taxonomy.n_leaves)
        rank = np.empty(len(often), np.int64)
        rank[np.argsort(-often, kind="stable")] = np.arange(len(often))
        sizes = codes.sizes[rows]
        ends = np.cumsum(sizes)
        of = np.repeat(np.arange(len(rows)), sizes)
        own = rank[
            codes.items[np.arange(ends[-1]) - np.repeat(ends - sizes, sizes) + np.repeat(codes.starts[rows], sizes)]
        ]
        order = np.lexsort((own, of))
        turn = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
        keys = np.full((len(rows), _FIRST), len(often), np.int64)
        few = turn < _FIRST
        keys[of[few], turn[few]] = own[order][few]
        return rows[np.lexsort(keys.T[::-1])]

    def _halved(self, rows: Ints, allowed: int) -> list[Ints]:
        whole = self._alike(rows, np.array([0, len(rows)]), np.array([allowed]))
        return self._split(rows, float(whole.losses[0]), int(whole.gone[0]), allowed)

    def _split(self, rows: Ints, loss: float, gone: int, allowed: int) -> list[Ints]:
        if len(rows) < 2 * self.k or loss == 0:
            return [rows]
        middle = len(rows) // 2
        halves = self._alike(rows, np.array([0, middle, len(rows)]), np.array([allowed // 2] * 2))
        if halves.losses.sum() >= loss or halves.gone.sum() > max(gone, allowed):
            return [rows]
        return [
            part
            for half, lost, left in zip((rows[:middle], rows[middle:]), halves.losses, halves.gone, strict=True)
            for part in self._split(half, float(lost), int(left), allowed // 2)
        ]
