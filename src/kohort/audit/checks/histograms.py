"""How often values occur in each class, some classes at a time: a privacy model judges every class by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.audit.meaning.spelling import alike, written
from kohort.audit.read.database import Database
from kohort.audit.read.table import Table
from kohort.policy import Policy
from kohort.privacy import Histogram, Reference, reference_of

_AT_ONCE = 1 << 21
"""Rows whose classes are judged at a time, about."""

Keeps: TypeAlias = Callable[[Histogram, Reference], NDArray[np.bool_]]


@dataclass(frozen=True)
class Judged:
    """How many classes there are, how many of them fail, and the records in those."""

    classes: int
    failing: int
    records: int
    other_spellings: int = 0
    """Combinations of values that are another combination in other words, and count as one with it."""


@dataclass(frozen=True)
class Histograms:
    """The values of classes, counted in the database; iterating gives those of some classes after the other."""

    database: Database
    reference: Reference
    """The values of all classes together."""
    number: NDArray[np.int64]
    """Number in the reference of every combination of texts."""
    group: str
    vector: str
    """SQL names of the columns by which classes differ, and by which combinations of texts differ."""
    parts: int
    """How many parts the classes are in."""

    def __iter__(self) -> Iterator[Histogram]:
        for part in range(self.parts):
            found = self.database.arrays(
                f"SELECT dense_rank() OVER (ORDER BY {self.group}) - 1 AS class, vector, size FROM histogram "
                f"JOIN vectors USING ({self.vector}) WHERE part = {part}"
            )
            if len(found["size"]):
                group, vector, size = (np.asarray(found[name], np.int64) for name in ("class", "vector", "size"))
                yield Histogram.of_pairs(group, self.number[vector], size)

    def judged(self, keeps: Keeps) -> Judged:
        """Count the classes that do not keep a promise."""
        classes = failing = records = 0
        for some in self:
            wrong = ~keeps(some, self.reference)
            classes += len(wrong)
            failing += int(wrong.sum())
            records += int(some.sizes[wrong].sum())
        return Judged(classes, failing, records, len(self.number) - self.reference.size)


def of_classes(
    table: Table,
    quasi: Sequence[str],
    columns: Sequence[str],
    policy: Policy,
    *,
    starred: bool,
    known: Sequence[str] = (),
) -> Histograms:
    """Count the values of some columns in every class; rows of ``*`` are one if they are not suppressed.

    Parameters
    ----------
    known : sequence of str
        Further columns by which records of a class differ.
    """
    classes, apart = table.keys(quasi), table.keys(known, "k")
    return counted(
        table,
        [*classes.words, *apart.words],
        columns,
        policy,
        "count(*)",
        joined=f"{classes.joined} {apart.joined}",
        where="true" if starred else f"NOT ({classes.starred})",
    )


def counted(
    table: Table,
    groups: Sequence[str],
    columns: Sequence[str],
    policy: Policy,
    times: str,
    *,
    joined: str = "",
    where: str = "true",
) -> Histograms:
    """Count the values of some columns in every group of rows, and in the whole table.

    Parameters
    ----------
    groups : sequence of str
        SQL of what the rows are grouped by.
    times : str
        SQL of the records that rows of a group stand for.
    joined, where : str
        SQL of what the groups need beside the table, and of the rows that count.
    """
    database, values = table.database, table.numbers(columns, "v")
    parts = max(1, -(-table.rows // _AT_ONCE))
    group = ", ".join(f"g{place}" for place in range(len(groups)))
    named = ", ".join(f"{sql} AS g{place}" for place, sql in enumerate(groups))
    database.rows(
        f"CREATE OR REPLACE TEMP TABLE histogram AS SELECT *, CAST(hash({group}) % {parts} AS USMALLINT) AS part FROM "
        f"(SELECT {named}, {values.named}, CAST({times} AS BIGINT) AS size FROM {table.relation} {joined} "
        f"{values.joined} WHERE {where} GROUP BY {', '.join([*groups, *values.words])}) AS counted"
    )
    database.rows(
        f"CREATE OR REPLACE TEMP TABLE vectors AS SELECT *, row_number() OVER (ORDER BY {values.names}) - 1 AS vector "
        f"FROM (SELECT {values.names}, CAST(sum(size) AS BIGINT) AS times FROM histogram GROUP BY {values.names}) AS v"
    )
    found = database.arrays("SELECT * FROM vectors ORDER BY vector")
    texts = {
        name: [known[code] for code in codes]
        for name, codes in zip(columns, values.codes(found), strict=True)
        for known in ([written(policy, name, text) for text in table.dictionary(name).values],)
    }
    reference, number = reference_of(policy, texts, np.asarray(found["times"], np.int64), alike)
    return Histograms(database, reference, number, group, values.names, parts)
