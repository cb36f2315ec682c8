"""Class sizes: how many records share a published combination of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.audit.read.table import Table

Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.signedinteger]

MISSING = -1
_BLOCK = 1 << 17
"""Pairs that are compared at once rather than split further."""


@dataclass(frozen=True)
class Classes:
    """The distinct published combinations by their values, suppressed rows left out."""

    codes: Codes
    """Values by number, -1 where missing or ``*``; empty when no cell is, as nobody needs it then; shape (classes,
    quasi-identifiers)."""
    sizes: Ints
    """Rows of each combination."""

    @property
    def has_missing(self) -> bool:
        """Whether a quasi-identifier is missing or ``*`` anywhere."""
        return bool(self.codes.size)

    def under(self, k: int) -> int:
        """Count the rows in classes smaller than k, a missing cell being a value of its own."""
        return int(self.sizes[self.sizes < k].sum())

    @property
    def smallest(self) -> int:
        """Size of the smallest class; 0 when there is none."""
        return int(self.sizes.min()) if self.sizes.size else 0

    def wildcard(self, k: int) -> tuple[int, int]:
        """Let a missing cell or ``*`` match anything, both ways.

        Returns
        -------
        tuple of int
            The fewest rows that any row matches, itself included, and the number of rows that match
            fewer than k.
        """
        if not self.has_missing:
            return self.smallest, self.under(k)
        # a row matches its own class at least, so only small classes can fall short
        small = np.flatnonzero(self.sizes < max(k, self.smallest + 1))
        matched = matches(self.codes, self.sizes, small)
        rest = np.flatnonzero((self.sizes >= max(k, self.smallest + 1)) & (self.sizes < matched.min()))
        fewest = min([int(matched.min()), *matches(self.codes, self.sizes, rest).tolist()])
        return fewest, int(self.sizes[small][matched < k].sum())

    def holds_as_wildcard(self, k: int) -> bool:
        """Whether no row would match fewer than k; stops at the first that does."""
        small = np.flatnonzero(self.sizes < k)
        if not self.has_missing:
            return not len(small)
        start, step = 0, 64
        while start < len(small):
            if (matches(self.codes, self.sizes, small[start : start + step]) < k).any():
                return False
            start, step = start + step, 8 * step
        return True


@dataclass(frozen=True)
class ClassSizes:
    """How many classes there are of each size, suppressed rows left out. Classes themselves stay where they are."""

    sizes: Ints
    times: Ints
    """The different sizes, ascending, and how many classes have each."""
    has_missing: bool = False
    """Whether a quasi-identifier is missing or ``*`` anywhere."""
    values: Callable[[], Classes] | None = None
    """Every class with its values, for the questions about missing cells, which sizes do not answer."""

    @property
    def number(self) -> int:
        """Number of classes."""
        return int(self.times.sum())

    @property
    def smallest(self) -> int:
        """Size of the smallest class; 0 when there is none."""
        return int(self.sizes.min(initial=self.sizes[0])) if self.sizes.size else 0

    def under(self, k: int) -> int:
        """Count the rows in classes smaller than k, a missing cell being a value of its own."""
        small = self.sizes < k
        return int((self.sizes[small] * self.times[small]).sum())

    @property
    def of_each(self) -> NDArray[Any]:
        """The size of every class, in the smallest type: the one array that is as long as there are classes."""
        kind = np.min_scalar_type(int(self.sizes.max(initial=0)))
        return np.repeat(self.sizes.astype(kind), self.times)

    @cached_property
    def classes(self) -> Classes:
        """Every class with its values."""
        assert self.values is not None
        return self.values()


def classes(table: Table, quasi: Sequence[str]) -> ClassSizes:
    """Group the rows of a table by the texts of its quasi-identifiers.

    Whoever reads the file sees two texts for "missing" as different, so they make two classes.
    """
    if not quasi:  # nothing but sets: all rows are one class
        return ClassSizes(np.array([table.rows]), np.array([1]))
    keys = table.keys(quasi)
    found = table.database.arrays(
        f"SELECT size, count(*) AS times FROM (SELECT count(*) AS size FROM {table.relation} {keys.joined} WHERE NOT "
        f"({keys.starred}) GROUP BY {', '.join(keys.words)}) AS classes GROUP BY size ORDER BY size"
    )
    sizes, times = (np.asarray(found[name], np.int64) for name in ("size", "times"))
    starred = table.rows - int((sizes * times).sum())
    # a star says as little as a missing cell, and some tools write suppressed cells so
    untold = (int(one.times[one.untold].sum()) for one in (table.dictionary(name) for name in quasi))
    return ClassSizes(sizes, times, any(cells > starred for cells in untold), lambda: _with_values(table, quasi))


def _with_values(table: Table, quasi: Sequence[str]) -> Classes:
    keys, dictionaries = table.numbers(quasi), [table.dictionary(name) for name in quasi]
    codes = ", ".join(f"CAST(any_value(d{j}.code) AS INTEGER) AS n{j}" for j in range(len(dictionaries)))
    found = table.database.arrays(
        f"SELECT count(*) AS size, {codes} FROM {table.relation} {keys.joined} "
        f"WHERE NOT ({keys.starred}) GROUP BY {', '.join(keys.words)}"
    )
    columns = []
    for j, dictionary in enumerate(dictionaries):
        untold = dictionary.untold
        kind = np.int16 if len(untold) < np.iinfo(np.int16).max else np.int32
        columns.append(np.where(untold, MISSING, np.arange(len(untold))).astype(kind)[found.pop(f"n{j}")])
    return Classes(np.stack(columns, axis=1), np.asarray(found["size"], np.int64))


def matches(codes: Codes, sizes: Ints, wanted: Ints) -> Ints:
    """Count, for each wanted class, the rows of all classes that agree wherever neither is missing.

    The wanted classes are split by their values, column by column, and each part is compared only with
    the classes that its values allow. So no wanted class is looked at twice, and the work does not
    depend on how many patterns of missing cells there are.

    Parameters
    ----------
    codes : ndarray of int, shape (classes, columns)
        Values by number, -1 where missing.
    sizes : ndarray of int
        Rows of each class.
    wanted : ndarray of int
        Numbers of the classes to count for.
    """
    total = np.zeros(len(sizes), np.int64)
    if codes.size and codes.max() < np.iinfo(np.int16).max:
        codes = codes.astype(np.int16)  # comparing is all that is done, and it takes half the time
    # columns without missing cells first, then those with few values: they split without repetition
    order = sorted(range(codes.shape[1]), key=lambda j: (bool((codes[:, j] == MISSING).any()), int(codes[:, j].max())))

    def count(mine: Ints, others: Ints, level: int) -> None:
        if len(mine) * len(others) <= _BLOCK or level == len(order):
            total[mine] = _compare(codes, sizes, mine, others, order[level:])
            return
        for some, fewer in _split(codes[:, order[level]], mine, others):
            count(some, fewer, level + 1)

    if len(wanted):
        count(wanted, np.arange(len(sizes)), 0)
    return total[wanted]


def _compare(codes: Codes, sizes: Ints, mine: Ints, others: Ints, columns: Sequence[int]) -> Ints:
    """Compare every pair in the given columns; the others agree already."""
    if not columns:
        return np.full(len(mine), sizes[others].sum())
    agree = np.ones((len(mine), len(others)), bool)
    for column in columns:
        a, b = codes[mine, column][:, None], codes[others, column][None, :]
        agree &= (a == b) | (a == MISSING) | (b == MISSING)
    counts: Ints = agree @ sizes[others]
    return counts


def _split(values: Codes, mine: Ints, others: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Part `mine` by value, each part with those of `others` that agree with it, one at a time."""
    others = others[np.argsort(values[others], kind="stable")]
    ranked = values[others]
    missing = others[: np.searchsorted(ranked, MISSING, side="right")]
    mine = mine[np.argsort(values[mine], kind="stable")]
    distinct, starts = np.unique(values[mine], return_index=True)
    lows, highs = np.searchsorted(ranked, distinct), np.searchsorted(ranked, distinct, side="right")
    for value, part, low, high in zip(distinct, np.split(mine, starts[1:]), lows, highs, strict=True):
        yield part, others if value == MISSING else np.concatenate([missing, others[low:high]])
