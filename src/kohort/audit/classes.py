"""Class sizes: how many records share a published combination of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.audit.load import Table
from kohort.audit.published import STAR
from kohort.policy import Policy
from kohort.privacy import Histogram, Reference, reference_of

Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.signedinteger]

MISSING = -1
_BLOCK = 1 << 17
"""Pairs that are compared at once rather than split further."""


@dataclass(frozen=True)
class Classes:
    """The distinct published combinations, suppressed rows left out.

    Attributes
    ----------
    codes : ndarray of int, shape (classes, quasi-identifiers)
        Values by number, -1 where missing or ``*``; empty when no cell is, as nobody needs it then.
    sizes : ndarray of int
        Rows of each combination.
    """

    codes: Codes
    sizes: Ints

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


def classes(table: Table, quasi: Sequence[str]) -> Classes:
    """Group the rows of a table by the texts of its quasi-identifiers."""
    names = [table.columns[column] for column in quasi]
    database, grouped = table.database, ", ".join([*map(table.literal, quasi), *names])
    # two texts for "missing" tell records apart for whoever reads the file: they make two classes
    database.rows(
        f"CREATE OR REPLACE TEMP TABLE classes AS SELECT {grouped}, count(*) AS size "
        f"FROM {table.name} WHERE NOT starred GROUP BY {grouped}"
    )
    # a star tells as little as a missing cell, and some tools write suppressed cells so
    untold = {name: f"({name} IS NULL OR {name} = '{STAR}')" for name in names}
    anywhere = " OR ".join(untold.values())
    [(has_missing,)] = database.rows(f"SELECT coalesce(bool_or({anywhere}), false) FROM classes")
    if not has_missing:
        sizes = database.arrays("SELECT size FROM classes")["size"]
        return Classes(np.empty((0, len(names)), np.int64), np.asarray(sizes, np.int64))
    numbers = ", ".join(
        f"CASE WHEN {untold[name]} THEN {MISSING} ELSE dense_rank() OVER (ORDER BY {name}) END AS {name}"
        for name in names
    )
    found = database.arrays(f"SELECT size, {numbers} FROM classes")
    codes = np.stack([np.asarray(found[name], np.int64) for name in names], axis=1)
    return Classes(codes, np.asarray(found["size"], np.int64))


def histogram(
    table: Table,
    quasi: Sequence[str],
    columns: Sequence[str],
    policy: Policy,
    *,
    starred: bool,
    known: Sequence[str] = (),
) -> tuple[Histogram, Reference]:
    """Count the values of some columns in every class; rows of ``*`` are one if they are not suppressed.

    Parameters
    ----------
    known : sequence of str
        Further columns that tell records of a class apart.
    """
    return counted(
        table,
        ", ".join([*map(table.literal, quasi), *(table.columns[column] for column in known)]),
        columns,
        policy,
        "count(*)",
        "" if starred else "WHERE NOT starred",
    )


def counted(
    table: Table, groups: str, columns: Sequence[str], policy: Policy, times: str, where: str = ""
) -> tuple[Histogram, Reference]:
    """Count the values of some columns in every group of rows, and in the whole table.

    Parameters
    ----------
    groups : str
        SQL of what the rows are grouped by.
    times : str
        SQL of the records that rows of a group stand for.
    """
    texts = {column: table.columns[column] for column in columns}
    values = ", ".join(texts.values())
    found = table.database.arrays(
        f"SELECT dense_rank() OVER (ORDER BY {groups}) - 1 AS class, "
        f"dense_rank() OVER (ORDER BY {values}) - 1 AS value, size FROM "
        f"(SELECT {groups}, {values}, CAST({times} AS BIGINT) AS size FROM {table.name} {where} GROUP BY ALL)"
    )
    group, value, size = (np.asarray(found[name], np.int64) for name in ("class", "value", "size"))
    rows = table.database.rows(f"SELECT DISTINCT {values} FROM {table.name} {where} ORDER BY {values}")
    records = np.bincount(value, size, minlength=len(rows)).astype(np.int64)
    reference, number = reference_of(policy, {name: [row[j] for row in rows] for j, name in enumerate(texts)}, records)
    return Histogram.of_pairs(group, number[value], size), reference


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
