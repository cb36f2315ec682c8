"""Tables in Spark as the audit sees them: every cell as text, and what it asks is counted by Spark.

The distinct texts of quasi-identifiers come to the driver, with their counts. Those of other columns stay where they
are, for nearly every row may have its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import ArrayType, BinaryType, DoubleType, FloatType, MapType, StructType, TimestampType

from kohort.audit.checks.classes import ClassSizes
from kohort.audit.meaning.published import STAR
from kohort.audit.read.dictionary import Dictionary
from kohort.audit.read.load import missing_texts
from kohort.audit.read.opened import refuse_namesakes
from kohort.audit.read.texts import Texts
from kohort.errors import DataError
from kohort.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

MOMENT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXXXX"
"""How a moment is written, in the zone of the session and with its offset."""
STARRED = "starred"
"""The column that says whether a row has ``*`` in every quasi-identifier."""


@dataclass(frozen=True)
class SparkTable:
    """A table in Spark that answers what the checks of the audit ask of a loaded one."""

    frame: DataFrame
    """The wanted columns as text, NULL where missing; quasi-identifiers a second time as they are written;
    `STARRED`."""
    header: tuple[str, ...]
    """All column names of the source."""
    columns: Mapping[str, str]
    """Column name to the name in `frame`, for the columns that are wanted."""
    missing: Mapping[str, frozenset[str]]
    """Column name to the texts that mean a missing value."""
    quasi: tuple[str, ...]
    _differences: dict[int, dict[str, dict[str | None, int]]] = field(default_factory=dict)
    """Of all other columns at once, for each other table: one pass over both."""

    def literal(self, column: str) -> str:
        """Name of a quasi-identifier as it is written: texts for missing stay distinct."""
        return f"literal_{self.columns[column]}"

    @cached_property
    def _counted(self) -> list[tuple[bool, str, str | None, int]]:
        """Rows by `STARRED`, column and text as written, for all quasi-identifiers in one pass."""
        names = tuple(map(self.literal, self.quasi))
        rows = self.frame.unpivot([STARRED], names, "name", "text").groupBy(STARRED, "name", "text").count().collect()
        counted = [(row[0], row[1], row[2], row[3]) for row in rows]
        return sorted(counted, key=lambda row: (row[0], row[1], row[2] is not None, row[2] or ""))

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        if not self.quasi:
            return self.frame.count()
        return sum(rows for _, name, _, rows in self._counted if name == self.literal(self.quasi[0]))

    @cached_property
    def starred(self) -> int:
        """Rows with ``*`` in every quasi-identifier."""
        first = self.literal(self.quasi[0]) if self.quasi else ""
        return sum(rows for starred, name, _, rows in self._counted if starred and name == first)

    def dictionary(self, column: str) -> Dictionary:
        """The distinct texts of a quasi-identifier."""
        found = Counter[str | None]()
        for _, name, text, rows in self._counted:
            if name == self.literal(column):
                found[text] += rows
        times = np.array(list(found.values()), np.int64)
        missing = np.array([text is None or text in self.missing[column] for text in found], bool)
        values = Texts.of(None if gone else text for text, gone in zip(found, missing, strict=True))
        star = list(found).index(STAR) if STAR in found else None
        return Dictionary("", "", values, times, missing, star)

    def combinations(self, columns: Sequence[str]) -> tuple[int, int]:
        """How many distinct rows some columns have, and how many rows are equal to no other."""
        counted = self.frame.groupBy(*(self.columns[name] for name in columns)).count()
        row = counted.agg(F.count(F.lit(1)), F.count_if(F.col("count") == 1)).collect()[0]
        return int(row[0]), int(row[1])

    def differences(self, other: SparkTable, columns: Sequence[str]) -> Iterator[tuple[str, str | None, int]]:
        """Say how many more rows than another table it has of each text of some columns, where that differs."""
        if not columns:
            return
        if id(other) not in self._differences:
            names = [name for name in self.columns if name in other.columns and name not in self.quasi]
            signed = [
                table.frame.select(F.lit(sign).alias("rows"), *(table.columns[name] for name in names))
                .toDF("rows", *(f"c{j}" for j in range(len(names))))
                .unpivot(["rows"], [f"c{j}" for j in range(len(names))], "name", "text")
                for table, sign in ((self, 1), (other, -1))
            ]
            both = signed[0].union(signed[1]).groupBy("name", "text").agg(F.sum("rows").alias("rows"))
            found: dict[str, dict[str | None, int]] = {name: {} for name in names}
            for name, text, rows in both.filter("rows <> 0").collect():
                found[names[int(name[1:])]][text] = rows
            self._differences[id(other)] = found
        for column in columns:
            yield from ((column, text, rows) for text, rows in self._differences[id(other)][column].items())

    def repeats(self, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Count the different values of some columns, and the rows that have one."""
        if not columns:
            return {}
        cells = [F.col(self.columns[column]) for column in columns]
        [found] = self.frame.agg(
            *(function(cell) for cell in cells for function in (F.countDistinct, F.count))
        ).collect()
        return {column: (int(found[2 * j]), int(found[2 * j + 1])) for j, column in enumerate(columns)}

    def class_sizes(self) -> ClassSizes:
        """The sizes of all classes, rows of ``*`` left out: how often each size occurs is all that leaves Spark."""
        classes = self.frame.filter(~F.col(STARRED)).groupBy(*map(self.literal, self.quasi)).count()
        counted = classes.groupBy(F.col("count").alias("size")).agg(F.count(F.lit(1)).alias("times"))
        found = sorted((row[0], row[1]) for row in counted.collect())
        sizes, times = (np.array([pair[j] for pair in found], np.int64) for j in range(2))
        # How a missing cell may match others is not asked in Spark.
        return ClassSizes(sizes, times)


def counted_table(source: DataFrame, name: str, policy: Policy, wanted: Collection[str]) -> SparkTable:
    """Look at the wanted columns of a table that are there, as the audit does.

    Parameters
    ----------
    name : str
        What messages call the table.

    Raises
    ------
    DataError
        When two columns have the same name, or a column holds lists or records.
    """
    header = tuple(source.columns)
    refuse_namesakes(header, name, policy)
    kinds = {field.name: field.dataType for field in source.schema.fields}
    nested = [
        column
        for column in header
        if column in wanted and isinstance(kinds[column], ArrayType | MapType | StructType | BinaryType)
    ]
    if nested:
        raise DataError(*(f"{name}: column {column!r} holds lists, records or bytes." for column in nested))
    columns = {column: f"c{i}" for i, column in enumerate(header) if column in wanted}
    quasi = tuple(column for column in policy.quasi_identifiers if column in columns)
    missing = {column: _missing(column, kinds[column], policy) for column in columns}
    # Names are given by position: Spark would take for one those that differ in case alone, and dots for records.
    plain = source.toDF(*(f"c{i}" for i in range(len(header))))
    texts = {column: _text(sql, kinds[column], exact=column in quasi) for column, sql in columns.items()}
    cells = [
        F.when(~texts[column].isin(*sorted(missing[column])), texts[column]).alias(sql)
        for column, sql in columns.items()
    ]
    # a null and an empty text are two, as there are readers that tell them apart
    literals = [texts[column].alias(f"literal_{columns[column]}") for column in quasi]
    # Asked before missing texts are taken out: '*' may be one of them.
    starred = F.lit(bool(quasi))
    for column in quasi:
        starred = starred & F.coalesce(texts[column] == STAR, F.lit(False))
    return SparkTable(plain.select(*cells, *literals, starred.alias(STARRED)), header, columns, missing, quasi)


def _text(name: str, kind: DataType, *, exact: bool) -> Column:
    """A cell as text; a moment with its offset from UTC, for without it a text would be another moment elsewhere.

    Exact texts of numbers are the shortest that are theirs, as all others see them: Java before 19 has longer ones.
    """
    if isinstance(kind, TimestampType):
        return F.date_format(F.col(name), MOMENT)
    if exact and isinstance(kind, DoubleType | FloatType):
        shortest: Column = pandas_udf(_shortest, "string")(F.col(name))  # type: ignore[call-overload]
        return shortest
    return F.col(name).cast("string")


def _shortest(numbers: pd.Series) -> pd.Series:
    return pa.Array.from_pandas(numbers).cast(pa.string()).to_pandas()


def _missing(column: str, kind: DataType, policy: Policy) -> frozenset[str]:
    """Texts of a column that mean a missing value; a typed column may say "not a number" instead."""
    not_a_number = {"NaN"} if isinstance(kind, DoubleType | FloatType) else set()
    return missing_texts(policy, column) | not_a_number
