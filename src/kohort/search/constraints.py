"""Privacy and utility constraints of sets: PCTA and UPCTA (Gkoulalas-Divanis and Loukides 2011, 2012).

Every item begins as a group of its own. For each set of items that fewer than k records keep, groups are merged, one of
the set and another, at the least utility loss of what comes of it; with utility constraints, inside the allowed groups
only. If nothing may be merged, the group is left out that the fewest records have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.codes.sets import SetCodes
from kohort.kernels.sets.apriori import generalized
from kohort.kernels.sets.constraints import bits_of, merge_constraints
from kohort.policy.hierarchy.items import group_label
from kohort.search.sets import Ints, Repaired


@dataclass(frozen=True)
class Constrained:
    """Merges items of all records as one class.

    Time is that of the merges, each of which looks at the records of every group, a bit for each; and of counting the
    records of every set. Memory is a bit for each item and record.
    """

    codes: SetCodes
    k: int
    sets: tuple[tuple[int, ...], ...]
    """The sets that are protected, by the numbers of their items, with all their parts, in this order."""
    allowed: NDArray[np.int32]
    """Items of one number may be merged; -1 for those that may not."""

    def __call__(self, rows: Ints, bounds: Ints, allowed: Ints) -> Repaired:
        """Repair all records at once; see `Repair`."""
        del bounds, allowed  # one class, and what is left out is left out by need
        codes, tree = self.codes, self.codes.taxonomy
        # ties go to the item that comes first in the table
        there, first = np.unique(codes.items, return_index=True)
        turn = np.full(tree.n_leaves, len(codes.items))
        turn[there] = first
        order = np.argsort(turn, kind="stable")
        place = np.empty(tree.n_leaves, np.int32)
        place[order] = np.arange(tree.n_leaves)
        bits = bits_of(place[codes.items], codes.starts, tree.n_leaves)
        members = np.array([place[item] for one in self.sets for item in one], np.int32)
        begins = np.concatenate([[0], np.cumsum([len(one) for one in self.sets])]).astype(np.int64)
        group = np.empty(tree.n_leaves, np.int32)
        gone = merge_constraints(bits, members, begins, self.allowed[order].astype(np.int32), self.k, group)
        own = np.where(group[place] < 0, -1, group[place])
        labels, ends = np.empty(len(codes.items), np.int32), np.empty(len(rows) + 1, np.int64)
        filled = generalized(codes.items, codes.starts, own.astype(np.int32), labels, ends)
        texts = [""] * tree.n_leaves
        sizes = np.zeros(tree.n_leaves)
        for number in np.unique(own[own >= 0]).tolist():
            items = np.flatnonzero(own == number).tolist()
            texts[number] = group_label([tree.leaf_labels[item] for item in items])
            sizes[number] = len(items)
        lost = np.where(sizes > 1, sizes / tree.n_leaves, 0.0)
        kept = own[codes.items]
        losses = float(np.where(kept < 0, 1.0, lost[np.maximum(kept, 0)]).sum())
        found = Repaired(labels[:filled].copy(), ends, tuple(texts), np.array([losses]), np.array([int(gone)]))
        return found.of(rows)
