"""A table as the database reads it: cells as text, distinct texts by number, rows in batches.

A Parquet file is not copied. Every check reads the columns that it asks for, and has cells by the number of their
text, which is small: so no table needs to fit into memory, only the distinct texts of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kohort.audit.meaning.published import STAR
from kohort.audit.read.database import Database, Unreadable, quoted
from kohort.audit.read.dictionary import Dictionary, Ints, Keys
from kohort.audit.read.texts import TEXTS, Texts

if TYPE_CHECKING:
    import polars as pl

BATCH = 1 << 21
"""Rows that are read into arrays at a time."""
_NARROW = 1 << 20
"""A column that nothing but its values are checked of has its texts numbered if there are at most this many."""
_JOINED = 12
"""Dictionaries that are joined in one statement: the time of a statement grows with more than their number."""
_BLOCK = 64
"""Columns that one statement asks about, at most."""
_FEW = 24
"""Columns up to which each is asked about alone, where that is quicker."""
_CELLS = 1 << 22
"""Cells that one statement groups or joins, about."""
_WORD = 62
"""Bits of a whole number that texts of several columns are packed into."""
_OWN_KEYS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DATE")


@dataclass(frozen=True)
class Chunk:
    """Rows that stand in one place, such as a file."""

    relation: str
    """SQL for after FROM; its columns are called c0, c1 and so on."""
    number: str
    """SQL of the number of a row in it, from 0."""
    start: int
    rows: int
    """Number of its first row in the table, and how many it has."""
    place: str
    """What it is called in a message."""


@dataclass(frozen=True)
class Table:
    """A table: text cells, NULL where missing, the flag ``starred`` and the number ``rowid`` of each row.

    In the view of its name, quasi-identifiers are there a second time, under `literal`, as the source writes them.
    """

    database: Database
    name: str
    """The name of the view."""
    header: tuple[str, ...]
    """All column names of the source."""
    columns: Mapping[str, str]
    """Column name to SQL name, for the columns that can be asked for."""
    rows: int
    relation: str
    """SQL for after FROM: all rows, each column in its own type."""
    row: str
    """SQL of the number of a row in it."""
    parts: tuple[Chunk, ...]
    """The same rows, part by part."""
    kinds: Mapping[str, str]
    """SQL name to the database's type."""
    missing: Mapping[str, frozenset[str]]
    """Column name to the texts that mean a missing value."""
    viewed: Mapping[str, str]
    """Column name to SQL name, for the columns that are in the view; cells of others are `text` of `relation`."""
    _known: dict[str, Dictionary] = field(default_factory=dict, repr=False)
    _about: dict[str, int] = field(default_factory=dict, repr=False)

    def literal(self, column: str) -> str:
        """SQL name of a quasi-identifier as it is written: texts for missing stay distinct, NULL for none."""
        return f"literal_{self.columns[column]}"

    def differences(self, other: Table, columns: Sequence[str]) -> Iterator[tuple[str, str | None, int]]:
        """Say how many more rows than another table it has of each text of some columns, where that differs."""
        # a few columns are counted one by one, in half of the time
        for some in self.blocks(columns, 1 if len(columns) <= _FEW else _BLOCK):
            sides = (
                f"SELECT {_each([table.text(column) for column in some])}, {sign} AS times FROM {table.relation}"
                for table, sign in ((self, 1), (other, -1))
            )
            found = self.database.streamed(
                f"SELECT place, text, CAST(sum(times) AS BIGINT) FROM ({' UNION ALL '.join(sides)}) AS both_sides "
                "GROUP BY place, text HAVING sum(times) <> 0"
            )
            yield from ((some[place], text, times) for place, text, times in found)

    def repeats(self, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Count the different values of some columns, and the rows that have one."""
        found = {}
        for column in columns:
            if column in self._known:
                times = self._known[column].times[~self._known[column].missing]
                found[column] = len(times), int(times.sum())
                continue
            text = self.text(column)
            [(different, rows)] = self.database.rows(
                f"SELECT count(DISTINCT text), count(text) FROM (SELECT {text} AS text FROM {self.relation}) AS cells"
            )
            found[column] = (int(different), int(rows))
        return found

    def combinations(self, columns: Sequence[str]) -> tuple[int, int]:
        """How many distinct rows some columns have, and how many rows are equal to no other.

        Rows are compared by two hashes of 64 bits: many columns would take as much memory as the table.
        """
        texts = [self.text(column) for column in columns]
        blocks = [", ".join(texts[start : start + _BLOCK]) for start in range(0, len(texts), _BLOCK)]
        once, again = (", ".join(f"hash({salt}{some})" for some in blocks) for salt in ("", "'again', "))
        [(number, unique)] = self.database.rows(
            "SELECT count(*), count(*) FILTER (rows = 1) FROM (SELECT count(*) AS rows FROM "
            f"{self.relation} GROUP BY hash({once}), hash({again})) AS grouped"
        )
        return number, unique

    def blocks(self, columns: Sequence[str], most: int = _BLOCK) -> Iterator[Sequence[str]]:
        """Columns that one statement may ask about, some after the other."""
        step = min(most, max(1, _CELLS // max(self.rows, 1)))
        for start in range(0, len(columns), step):
            yield columns[start : start + step]

    def dictionary(self, column: str) -> Dictionary:
        """Number the distinct texts of a column, which are read once."""
        if column not in self._known:
            self._known[column] = self._numbered(column)
        return self._known[column]

    def read_through(self, columns: Sequence[str]) -> None:
        """Read all of some columns, about whose texts it is then known how many there are."""
        for start in range(0, len(columns), _BLOCK):
            some = columns[start : start + _BLOCK]
            counted = ", ".join(f"approx_count_distinct({self.columns[column]})" for column in some)
            [found] = self.database.rows(f"SELECT {counted} FROM {self.relation}")
            self._about.update(zip(some, found, strict=True))

    def is_narrow(self, column: str) -> bool:
        """Whether a column has few enough distinct texts for a dictionary."""
        if column in self._known:
            return True
        if column not in self._about:
            self.read_through([column])
        return self._about[column] <= _NARROW

    def batches(self, low: int = 0, high: int | None = None) -> Iterator[tuple[int, int]]:
        """First row and end of every batch of rows, of all rows or those from `low` to before `high`."""
        end = self.rows if high is None else high
        for start in range(low, end, BATCH):
            yield start, min(start + BATCH, end)

    def codes(self, columns: Sequence[str], start: int, stop: int) -> list[Ints]:
        """The numbers of the texts of some columns, in the rows from `start` to before `stop`.

        Raises
        ------
        Unreadable
            When the source has changed since its texts were read.
        """
        if len(columns) > _JOINED:
            blocks = (columns[first : first + _JOINED] for first in range(0, len(columns), _JOINED))
            return [codes for some in blocks for codes in self.codes(some, start, stop)]
        dictionaries = [self.dictionary(column) for column in columns]
        found: list[Ints] = [np.empty(stop - start, dictionary.kind[1]) for dictionary in dictionaries]
        codes = ", ".join(f"CAST(d{place}.code AS {one.kind[0]}) AS n{place}" for place, one in enumerate(dictionaries))
        for part in self.parts:
            low, high = max(start, part.start), min(stop, part.start + part.rows)
            if low >= high:
                continue
            arrays = self.database.arrays(
                f"SELECT CAST({part.number} - {low - part.start} AS UINTEGER) AS place, {codes} FROM {part.relation} "
                f"{_joined(dictionaries)} "
                f"WHERE {part.number} >= {low - part.start} AND {part.number} < {high - part.start}"
            )
            if len(arrays["place"]) != high - low:
                raise Unreadable
            # a join keeps no order of rows
            here = slice(low - start, high - start)
            for place, array in enumerate(found):
                if np.ma.isMaskedArray(arrays[f"n{place}"]):
                    raise Unreadable
                array[here][arrays["place"]] = arrays[f"n{place}"]
        return found

    def keys(self, columns: Sequence[str], prefix: str = "d") -> Keys:
        """Write combinations of texts in a form that can be grouped; for use in a SELECT from `relation`.

        Whole numbers, or for many columns the texts themselves: joining as many dictionaries would take too long.

        Parameters
        ----------
        prefix : str
            Of the SQL names, which must differ in one statement.
        """
        if len(columns) <= _JOINED:
            return self.numbers(columns, prefix)
        # a null and an empty text are two, as there are readers that tell them apart
        texts = tuple(f"coalesce('=' || CAST({self.columns[column]} AS VARCHAR), '')" for column in columns)
        return Keys(
            joined="",
            words=texts,
            names=", ".join(f"{prefix}_{place}" for place in range(len(texts))),
            starred=" AND ".join(f"{text} = '={STAR}'" for text in texts),
            fields=(),
        )

    def numbers(self, columns: Sequence[str], prefix: str = "d") -> Keys:
        """Write combinations of texts as whole numbers, from which those of each text can be had again.

        The number of the text of column j is ``<prefix><j>.code``.
        """
        dictionaries = [self.dictionary(column) for column in columns]
        fields, word, shift = [], 0, 0
        for dictionary in dictionaries:
            if shift + dictionary.bits > _WORD:
                word, shift = word + 1, 0
            fields.append((word, shift, dictionary.bits))
            shift += dictionary.bits
        packed: list[list[str]] = [[] for _ in range(word + 1 if columns else 0)]
        for place, (word, shift, _) in enumerate(fields):
            packed[word].append(f"(CAST({prefix}{place}.code AS BIGINT) << {shift})")
        stars = [dictionary.star for dictionary in dictionaries]
        starred = " AND ".join(f"{prefix}{place}.code = {star}" for place, star in enumerate(stars))
        return Keys(
            joined=_joined(dictionaries, prefix),
            words=tuple(" | ".join(parts) for parts in packed),
            names=", ".join(f"{prefix}_{place}" for place in range(len(packed))),
            starred=starred if stars and None not in stars else "false",
            fields=tuple(fields),
        )

    def text(self, column: str) -> str:
        """SQL of a cell of `relation` as text, NULL where missing."""
        sql = self.columns[column]
        return f"CASE WHEN {self.is_missing(column)} THEN NULL ELSE CAST({sql} AS VARCHAR) END"

    def is_missing(self, column: str) -> str:
        """SQL: whether a cell of `relation` is missing; NULL for one that is null."""
        sql = self.columns[column]
        # a typed column says "not a number" where another leaves the cell empty
        strange = f" OR isnan({sql})" if self._is_float(column) else ""
        return f"CAST({sql} AS VARCHAR) IN ({quoted(sorted(self.missing[column]))}){strange}"

    def _numbered(self, column: str) -> Dictionary:
        table, key = f"{self.name}_{self.columns[column]}", self._key(column)
        text = "coalesce(CAST(key AS VARCHAR), '')"
        # in the order of the numbers, so that some of them are found without reading all; a null and an empty text have
        # two numbers, as there are readers that tell them apart
        self.database.rows(
            f"CREATE TEMP TABLE {table} AS SELECT key, times, "
            f"CAST(dense_rank() OVER (ORDER BY key IS NOT NULL, {text}) - 1 AS UINTEGER) AS code FROM ("
            f"SELECT {key} AS key, count(*) AS times FROM {self.relation} GROUP BY key) AS keys ORDER BY code"
        )
        missing = self.missing[column] | (frozenset({"nan", "-nan"}) if self._is_float(column) else frozenset())
        is_missing = f"{text} IN ({quoted(sorted(missing))})"
        value = f"any_value(CASE WHEN {is_missing} THEN NULL ELSE {text} END)"
        few = self.rows <= TEXTS
        found = self.database.frame(
            f"SELECT CAST(sum(times) AS BIGINT) AS times, bool_or({is_missing}) AS missing, bool_or({text} = '{STAR}') "
            f"AS star, {value if few else 'NULL'} AS value FROM {table} GROUP BY code ORDER BY code"
        )

        def read(start: int, stop: int) -> pl.Series:
            return self.database.frame(
                f"SELECT {value} AS value FROM {table} WHERE code >= {start} AND code < {stop} "
                "GROUP BY code ORDER BY code"
            )["value"]

        values = Texts(found.height, read)
        if found.height <= TEXTS:
            values = Texts.of(found["value"] if few else read(0, found.height))
        star = found["star"].arg_true()
        return Dictionary(
            table,
            key,
            values,
            found["times"].to_numpy(),
            found["missing"].to_numpy(),
            int(star[0]) if len(star) else None,
        )

    def _key(self, column: str) -> str:
        """What cells are looked up by: their own values where equal ones have equal texts, as that is faster."""
        sql = self.columns[column]
        kind = self.kinds[sql]
        if kind in _OWN_KEYS or kind == "VARCHAR":
            return sql
        if self._is_float(column):
            # zeros are equal, and so are all that is no number, whatever their signs; their texts are not
            odd = f"isnan({sql}) OR ({sql} = 0 AND signbit({sql}))"
            [(any_odd,)] = self.database.rows(f"SELECT coalesce(bool_or({odd}), false) FROM {self.relation}")
            if not any_odd:
                return sql
        return f"CAST({sql} AS VARCHAR)"

    def _is_float(self, column: str) -> bool:
        return self.kinds[self.columns[column]] in ("FLOAT", "DOUBLE")


def _each(texts: Sequence[str]) -> str:
    """SQL of the texts of some columns one below the other, each with the place of its column."""
    if len(texts) == 1:
        return f"0 AS place, {texts[0]} AS text"
    return f"unnest([{', '.join(map(str, range(len(texts))))}]) AS place, unnest([{', '.join(texts)}]) AS text"


def _joined(dictionaries: Sequence[Dictionary], prefix: str = "d") -> str:
    return " ".join(
        f"LEFT JOIN {one.table} AS {prefix}{place} ON {prefix}{place}.key IS NOT DISTINCT FROM {one.key}"
        for place, one in enumerate(dictionaries)
    )
