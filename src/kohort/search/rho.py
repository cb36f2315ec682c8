"""rho-uncertainty by leaving items out: SuppressControl (Cao, Karras, Raissi and Tan 2010).

In each round all rules are found that are too certain, and the item is left out that takes part in most of them for the
records that have it; until there is no such rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kohort.codes.sets import SetCodes
from kohort.kernels.sets.apriori import generalized
from kohort.kernels.sets.rules import certain_rules
from kohort.search.sets import Ints, Repaired


@dataclass(frozen=True)
class Uncertain:
    """Leaves items out of all records, as one class.

    Time is that of looking at every set of items of every record, for each item that is left out; memory the items of
    the table for each item of the longest record.
    """

    codes: SetCodes
    sensitive: NDArray[np.bool_]
    """Which leaves are sensitive."""
    rho: Fraction
    m: int
    """Items that may be known."""

    def __call__(self, rows: Ints, bounds: Ints, allowed: Ints) -> Repaired:
        """Repair all records at once; see `Repair`."""
        del bounds, allowed
        codes, leaves = self.codes, self.codes.taxonomy.n_leaves
        cut = np.arange(leaves, dtype=np.int32)
        occurs = np.bincount(codes.items, minlength=leaves)
        labels, ends = np.empty(len(codes.items), np.int32), np.empty(len(rows) + 1, np.int64)
        while True:
            filled = generalized(codes.items, codes.starts, cut, labels, ends)
            blame = np.zeros(leaves, np.int64)
            args = (labels[:filled], ends, self.sensitive, self.rho.numerator, self.rho.denominator, self.m, blame)
            if not certain_rules(*args):
                break
            cut[np.argmax(blame / np.maximum(occurs, 1))] = -1
        gone = int(occurs[cut < 0].sum())
        texts = codes.taxonomy.leaf_labels
        found = Repaired(labels[:filled].copy(), ends, texts, np.array([float(gone)]), np.array([gone]))
        return found.of(rows)
