"""What a published value stands for.

A release holds texts: values, intervals, labels, masks and ``*``. A :class:`PublishedColumn` reads
them in the light of the policy, the same way whichever tool wrote them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from kohort.audit.meaning.bulk import ISO, Ends, Floats, decimal, ends
from kohort.audit.meaning.intervals import Interval, day, days_atom, interval, number, point
from kohort.audit.meaning.notation import plain_number
from kohort.audit.read.texts import Texts
from kohort.privacy.reference import taxonomy_of

if TYPE_CHECKING:
    import polars as pl

    from kohort.policy import Column, Policy
    from kohort.policy.hierarchy import Taxonomy
    from kohort.policy.notation import Notation

STAR = "*"
LAST_CHARACTER = chr(0x10FFFF)
"""After every text that begins with a prefix: the prefix with this."""
ENDS = ("lo", "hi", "mid")
"""What is said of an interval in columns of its own: its ends, and its middle."""
BUCKET = "bucket"
"""The column that links the two tables of a release in buckets."""
_FORMULA = frozenset("=+-@\t\r")

Kind: TypeAlias = Literal["label", "number", "date", "prefix", "text"]
_WITH_ENDS: tuple[Kind, ...] = ("number", "date")


@dataclass(frozen=True, slots=True)
class Star:
    """Any value at all, a missing one included."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the column's taxonomy and the leaves under it, both ends included."""

    node: int
    first_leaf: int
    last_leaf: int

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.last_leaf - self.first_leaf + 1


@dataclass(frozen=True, slots=True)
class Mask:
    """Every text of one length that begins with a prefix: ``132**``."""

    prefix: str
    length: int


@dataclass(frozen=True, slots=True)
class Exact:
    """The text itself."""

    text: str


Meaning: TypeAlias = Star | Interval | Node | Mask | Exact


@dataclass(frozen=True)
class PublishedColumn:
    """How the published texts of one quasi-identifier are read. Make one with `published_column`."""

    name: str
    kind: Kind
    """Label of a taxonomy, interval of numbers or of days, masked code, or plain text: `label`, `number`, `date`,
    `prefix`, `text`."""
    taxonomy: Taxonomy | None = None
    """Of a label column."""
    domain: tuple[Decimal, Decimal] | None = None
    """Smallest and largest value (days since 1970 for dates): declared in the policy, else the range of the original,
    else unknown."""
    known: frozenset[str] | None = None
    """The original's texts, for the kinds where a bare text must be one of them."""
    bottom: Decimal | None = None
    top: Decimal | None = None
    """Borders at and beyond which the policy distinguishes no values."""
    style: str | None = field(default=None, repr=False)
    notation: Notation | None = field(default=None, repr=False)
    """How the original writes numbers; what is published has plain ones."""
    neutralised: bool = field(default=False, repr=False)

    @property
    def has_ends(self) -> bool:
        """Whether its values are intervals, which typed ``_lo`` and ``_hi`` columns may accompany."""
        return self.kind in _WITH_ENDS

    def read(self, text: str) -> Meaning | None:
        """Read one published text; None where it means nothing. An interval may be empty or outside."""
        text = self.plain(text)
        if text == STAR:
            return Star()
        if self.kind == "number":
            return interval(text, point)
        if self.kind == "date":
            return interval(text, days_atom(self.style))
        if self.kind == "prefix" and text.endswith(STAR):
            return Mask(text.rstrip(STAR), len(text))
        if self.taxonomy is None:
            return Exact(text) if self.known is None or text in self.known else None
        node = self.taxonomy.node_of(text)
        if node is not None:
            return Node(node, int(self.taxonomy.first_leaf[node]), int(self.taxonomy.last_leaf[node]))
        # some tools publish intervals of a column that has a hierarchy of numbers
        return interval(text, point) if self._has_number_leaves else None

    @cached_property
    def _has_number_leaves(self) -> bool:
        leaves = () if self.taxonomy is None else self.taxonomy.leaf_labels
        return all(number(leaf) is not None for leaf in leaves)

    def ends(self, texts: pl.Series) -> Ends:
        """Read many texts of a column with ends at once; those that are not plain must be read one by one."""
        assert self.has_ends
        return ends(texts, are_days=self.kind == "date")

    def values(self, texts: pl.Series) -> tuple[Floats, Iterator[tuple[int, Decimal | None]]]:
        """Read many original texts of a column with ends at once, missing ones left out.

        Returns
        -------
        ndarray of float
            The values of those that are plain, NaN for others.
        iterator of tuple
            Number and value of each other one.
        """
        if self.kind == "number" and self.notation is not None:
            return np.full(len(texts), np.nan), (
                (place, self.value(text)) for place, text in enumerate(texts) if text is not None
            )
        found = self.ends(texts)
        # the policy's style may take the same text for another day
        is_styled = self.kind == "date" and self.style not in (None, ISO)
        plain = found.plain & found.is_value & (not is_styled)
        others = np.flatnonzero(~plain & texts.is_not_null().to_numpy())
        values = ((int(number), self.value(texts[int(number)])) for number in others)
        return np.where(plain, found.lo, np.nan), values

    def value(self, text: str) -> Decimal | None:
        """Read an original text of a column with ends: the number, or the days since 1970."""
        text = self.plain(text)
        if self.kind == "date":
            return day(text, self.style)
        if self.notation is None:
            return number(text)
        plain = plain_number(text, self.notation)
        return None if plain is None else number(plain)

    def end(self, text: str) -> Decimal | None:
        """Read the published end of an interval: the number, or the days since 1970."""
        text = self.plain(text)
        return day(text, self.style, timed=False) if self.kind == "date" else number(text)

    def plain(self, text: str) -> str:
        """Strip the apostrophe that keeps a spreadsheet from running a cell as a formula."""
        return unquoted(text) if self.neutralised else text


def bound_names(name: str) -> tuple[str, ...]:
    """Name the columns that may hold the ends of an interval column, and its middle."""
    return tuple(f"{name}_{end}" for end in ENDS)


def alike_columns(policy: Policy) -> tuple[str, ...]:
    """Columns of a release whose equal cells must be written alike: quasi-identifiers, their ends, and buckets."""
    quasi = policy.quasi_identifiers
    ends = (end for name in quasi for end in bound_names(name) if end not in policy.columns)
    return (*quasi, *ends, *((BUCKET,) if policy.privacy.anonymity == "buckets" else ()))


def unquoted(text: str) -> str:
    """Strip an apostrophe before what a spreadsheet would take for a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in _FORMULA else text


def published_column(
    name: str, policy: Policy, texts: Iterable[str | None], original: Iterable[str | None] | None = None
) -> PublishedColumn:
    """Decide how the published texts of a quasi-identifier are to be read.

    Parameters
    ----------
    name : str
        A quasi-identifier of the policy.
    policy : Policy
        Its type and hierarchy decide; where it has none, the original's values do, else the published.
    texts, original : iterable of str
        Distinct texts of the release and, if it is there, of the original; None for missing ones.

    Raises
    ------
    DataError
        When its hierarchy file cannot be read.
    """
    column = policy.columns[name]
    neutralised = policy.output.formulas == "neutralised"
    plain = PublishedColumn(name, "text", style=column.format, neutralised=neutralised)
    texts, original = Texts.of(texts), None if original is None else Texts.of(original)
    kind = _declared(column) or _inferred(plain, texts, original)
    reader = PublishedColumn(
        name,
        kind,
        taxonomy=taxonomy_of(policy, name) if kind == "label" else None,
        known=_known(plain, original) if kind in ("text", "prefix") else None,
        bottom=_border(column.bottom) if kind in _WITH_ENDS else None,
        top=_border(column.top) if kind in _WITH_ENDS else None,
        style=column.format,
        notation=policy.notation(name),
        neutralised=neutralised,
    )
    return _with_domain(reader, column, original)


def _border(border: float | str | None) -> Decimal | None:
    """Read a border: a number, or a date as days since 1970."""
    return day(border) if isinstance(border, str) else None if border is None else Decimal(str(border))


def _known(plain: PublishedColumn, original: Texts | None) -> frozenset[str] | None:
    return None if original is None else frozenset(plain.plain(text) for text in original if text is not None)


def _declared(column: Column) -> Kind | None:
    hierarchy = column.hierarchy
    if hierarchy is not None:
        if hierarchy.file is not None or hierarchy.tree is not None:
            return "label"
        if hierarchy.prefix is not None:
            return "prefix"
        if hierarchy.flat is not None:
            return "text"
        return "date" if hierarchy.dates is not None else "number"
    match column.type:
        case "integer" | "number":
            return "number"
        case "date":
            return "date"
        case "string":
            return "text"
    return None


def _inferred(plain: PublishedColumn, texts: Texts, original: Texts | None) -> Kind:
    for kind in _WITH_ENDS:
        reader = replace(plain, kind=kind, style=None)
        if _are_intervals(reader, texts) if original is None else _are_values(reader, original):
            return kind
    return "text"


def _are_values(reader: PublishedColumn, texts: Texts) -> bool:
    return all(value is not None for _, some in texts.batches() for _, value in reader.values(some)[1])


def _are_intervals(reader: PublishedColumn, texts: Texts) -> bool:
    """Whether there are intervals, and nothing but these and ``*``."""
    any_there = False
    for _, some in texts.batches():
        found = reader.ends(some)
        any_there |= bool(found.plain.any())
        if (found.plain & (found.lo > found.hi)).any():
            return False
        for text in some.filter(~found.plain).drop_nulls():
            meaning = reader.read(text)
            any_there |= isinstance(meaning, Interval)
            if not isinstance(meaning, Star | Interval) or (isinstance(meaning, Interval) and meaning.is_empty):
                return False
    return any_there


def _with_domain(reader: PublishedColumn, column: Column, original: Texts | None) -> PublishedColumn:
    if not reader.has_ends:
        return reader
    if column.domain is not None:
        low, high = column.domain
        return replace(reader, domain=(Decimal(str(low)), Decimal(str(high))))
    ends: list[Decimal] = []
    for _, some in () if original is None else original.batches():
        floats, others = reader.values(some)
        ends += [value for _, value in others if value is not None]
        ends += [] if np.isnan(floats).all() else [decimal(np.nanmin(floats)), decimal(np.nanmax(floats))]
        ends = [min(ends), max(ends)] if ends else []
    return replace(reader, domain=(ends[0], ends[-1])) if ends else reader
