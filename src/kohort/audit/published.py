"""What a published value stands for.

A release holds texts: values, intervals, labels, masks and ``*``. A :class:`PublishedColumn` reads
them in the light of the policy, the same way whichever tool wrote them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from kohort.audit.intervals import Interval, day, days_atom, interval, number, point

if TYPE_CHECKING:
    from kohort.hierarchy import Taxonomy
    from kohort.policy import Column, Policy

STAR = "*"
_FORMULA = frozenset("=+-@\t\r")

Kind: TypeAlias = Literal["label", "number", "date", "prefix", "text"]


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
    """How the published texts of one quasi-identifier are read. Make one with `published_column`.

    Attributes
    ----------
    name : str
        The column.
    kind : {"label", "number", "date", "prefix", "text"}
        Label of a taxonomy, interval of numbers or of days, masked code, or plain text.
    taxonomy : Taxonomy or None
        Of a label column.
    domain : tuple of Decimal, or None
        Smallest and largest value (days since 1970 for dates): declared in the policy, else the range
        of the original, else unknown.
    known : frozenset of str or None
        The original's texts, for the kinds where a bare text must be one of them.
    """

    name: str
    kind: Kind
    taxonomy: Taxonomy | None = None
    domain: tuple[Decimal, Decimal] | None = None
    known: frozenset[str] | None = None
    style: str | None = field(default=None, repr=False)
    neutralised: bool = field(default=False, repr=False)

    @property
    def has_ends(self) -> bool:
        """Whether its values are intervals, which typed ``_lo`` and ``_hi`` columns may accompany."""
        return self.kind in ("number", "date")

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

    def value(self, text: str) -> Decimal | None:
        """Read an original text of a column with ends: the number, or the days since 1970."""
        text = self.plain(text)
        return day(text, self.style) if self.kind == "date" else number(text)

    def plain(self, text: str) -> str:
        """Strip the apostrophe that keeps a spreadsheet from running a cell as a formula."""
        return unquoted(text) if self.neutralised else text


def unquoted(text: str) -> str:
    """Strip an apostrophe before what a spreadsheet would take for a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in _FORMULA else text


def published_column(
    name: str, policy: Policy, texts: Collection[str], original: Collection[str] | None = None
) -> PublishedColumn:
    """Decide how the published texts of a quasi-identifier are to be read.

    Parameters
    ----------
    name : str
        A quasi-identifier of the policy.
    policy : Policy
        Its type and hierarchy decide; where it has none, the original's values do, else the published.
    texts, original : collection of str
        Distinct texts of the release and, if it is there, of the original, missing ones left out.

    Returns
    -------
    PublishedColumn

    Raises
    ------
    DataError
        When its hierarchy file cannot be read.
    """
    column = policy.columns[name]
    neutralised = policy.output.formulas == "neutralised"
    plain = PublishedColumn(name, "text", style=column.format, neutralised=neutralised)
    kind = _declared(column) or _inferred(plain, texts, original)
    reader = PublishedColumn(
        name,
        kind,
        taxonomy=_taxonomy(name, policy) if kind == "label" else None,
        known=frozenset(map(plain.plain, original)) if original is not None and kind in ("text", "prefix") else None,
        style=column.format,
        neutralised=neutralised,
    )
    return _with_domain(reader, column, original)


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


def _inferred(plain: PublishedColumn, texts: Collection[str], original: Collection[str] | None) -> Kind:
    if original is not None:
        if all(number(plain.plain(text)) is not None for text in original):
            return "number"
        return "date" if all(day(text) is not None for text in original) else "text"
    values = [plain.plain(text) for text in texts]
    values = [text for text in values if text != STAR]
    if values and all(_is_interval(interval(text, point)) for text in values):
        return "number"
    return "date" if values and all(_is_interval(interval(text, days_atom())) for text in values) else "text"


def _is_interval(found: Interval | None) -> bool:
    return found is not None and not found.is_empty


def _with_domain(reader: PublishedColumn, column: Column, original: Collection[str] | None) -> PublishedColumn:
    if not reader.has_ends:
        return reader
    if column.domain is not None:
        low, high = column.domain
        return replace(reader, domain=(Decimal(str(low)), Decimal(str(high))))
    values = [value for text in original or () if (value := reader.value(text)) is not None]
    return replace(reader, domain=(min(values), max(values))) if values else reader


def _taxonomy(name: str, policy: Policy) -> Taxonomy:
    from kohort.hierarchy import Taxonomy, read

    hierarchy = policy.columns[name].hierarchy
    if hierarchy is not None and hierarchy.tree is not None:
        return Taxonomy.from_tree(hierarchy.tree, column=name)
    return read(policy.folder / str(hierarchy.file if hierarchy else ""), name)
