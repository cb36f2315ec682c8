"""What an audit looks at, loaded and read once for all checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kohort.audit.checks.classes import ClassSizes
from kohort.audit.checks.coverage import Covered, Lines, covered, lines_of
from kohort.audit.meaning.order import Order
from kohort.audit.meaning.published import STAR, PublishedColumn
from kohort.audit.meaning.values import not_original
from kohort.audit.read.table import Table
from kohort.policy import Policy


@dataclass(frozen=True)
class Case:
    """A release, its policy and, if it was given, the original.

    Attributes
    ----------
    columns : mapping
        The quasi-identifiers that the release has, and how each is read.
    classes : ClassSizes or None
        Sizes of distinct published combinations; None in buckets, and when a quasi-identifier is not in the release.
    starred : int
        Rows with ``*`` in every quasi-identifier.
    order : Order or None
        Which original row each released row comes from: the caller said so, or it was found.
    found : bool
        Whether the order was found, as that of the original without the rows that are withheld.
    several : bool
        Whether it is one of several that fit.
    sensitive : Table or None
        The second table of a release in buckets.
    has_order : bool
        Whether the rows of the tables have an order at all.
    """

    policy: Policy
    release: Table
    original: Table | None
    columns: Mapping[str, PublishedColumn]
    classes: ClassSizes | None
    starred: int
    order: Order | None
    sensitive: Table | None = None
    has_order: bool = True
    found: bool = False
    several: bool = False

    @property
    def order_given(self) -> bool:
        """Whether the caller said which original row each released row comes from."""
        return self.order is not None and not self.found

    @property
    def starred_class(self) -> int:
        """Size of the class of rows with ``*`` everywhere, 0 if they are suppressed records.

        They are suppressed records if the policy shows such as ``*``, or if they are fewer than k.
        A policy that withholds suppressed records may still have a class generalized to the top, and
        with ``matchings`` no row needs another that is equal.
        """
        privacy = self.policy.privacy
        withholds = self.policy.output.suppressed == "withheld"
        enough = self.starred >= privacy.k or privacy.anonymity == "matchings"
        return self.starred if withholds and enough else 0

    @property
    def suppressed(self) -> int:
        """Suppressed records that are shown."""
        return self.starred - self.starred_class

    @property
    def withheld(self) -> int | None:
        """Original rows that are not in the release."""
        return None if self.original is None else max(0, self.original.rows - self.release.rows)

    @property
    def is_paired(self) -> bool:
        """Whether each released row has an original row to be compared with."""
        if self.original is None or not self.has_order:
            return False
        return self.order is not None or self.original.rows == self.release.rows

    @property
    def keeps_order(self) -> bool:
        """Whether the policy says that the rows stand in the order of the original, and there is one."""
        return self.policy.output.order == "kept" and self.has_order and self.original is not None

    @property
    def order_said(self) -> bool:
        """Whether somebody says which original row each released row comes from: the caller, or the policy.

        Then cells are compared with those of their own rows, and what differs is a fault.
        """
        return self.order_given or (self.keeps_order and self.is_paired)

    @cached_property
    def order_known(self) -> bool:
        """Whether it is certain which original row each released row comes from.

        The caller says so, or the policy does and nothing speaks against it: every cell fits its own row, in this
        order and no other. A shuffled file may fit the order of the original by chance, so a fit is not enough.
        """
        return self.order_given or (self.order_said and not self.several and not self.is_out_of_order)

    @cached_property
    def is_out_of_order(self) -> bool:
        """Whether the policy keeps the order and the rows do not stand in that of the original."""
        if not self.keeps_order or self.order_given:
            return False
        if not self.is_paired:
            return True
        return any(column.row_by_row for column in self.covered.values()) or any(self.not_original.values())

    @property
    def order_unknown(self) -> str:
        """Why it is not known which original row each row comes from, and what to give."""
        if self.is_out_of_order:
            return "the rows do not stand in the order of the original, though order = 'kept'; give row_order"
        if self.several:
            return "rows are withheld, and it is not certain which; give row_order"
        return "it is not known which original row each row comes from; give row_order"

    @cached_property
    def lines(self) -> Lines:
        """The quasi-identifiers that both tables have, laid out for comparison."""
        assert self.original is not None
        # a '*' that the policy reads as missing still says "any value"
        missing_is_any = self.policy.privacy.missing == "wildcard" or STAR in self.policy.input.missing
        columns = {name: column for name, column in self.columns.items() if name in self.original.columns}
        return lines_of(columns, self.release, self.original, missing_is_any=missing_is_any)

    @cached_property
    def covered(self) -> Mapping[str, Covered]:
        """How the quasi-identifiers fare against the original."""
        assert self.original is not None
        return covered(self.lines, self.release, self.original, paired=self.is_paired, order=self.order)

    @property
    def unchanged(self) -> list[str]:
        """The sensitive and insensitive columns that both tables have."""
        published = self.policy.having_role("sensitive", "insensitive")
        tables = [self.release, *([] if self.original is None else [self.original])]
        return [name for name in published if all(name in table.columns for table in tables)]

    @cached_property
    def not_original(self) -> Mapping[str, int]:
        """Cells of the other columns that are not those of the original: of their own rows, if the order is said."""
        assert self.original is not None
        names, paired = self.unchanged, self.order_said
        return not_original(self.policy, self.release, self.original, names, self.order, paired=paired)

    @property
    def absent(self) -> list[str]:
        """Columns that the policy publishes and the release does not have."""
        dropped = set(self.policy.dropped)
        return [name for name in self.policy.columns if name not in dropped and name not in self.release.columns]

    def bounds(self, name: str) -> dict[str, str]:
        """Name the columns of the release that hold the ends of a quasi-identifier: column to end."""
        return {
            column: end
            for end, column in zip(("lo", "hi"), bound_names(name), strict=True)
            if column in self.release.header and column not in self.policy.columns
        }


def bound_names(name: str) -> tuple[str, str]:
    """Name the columns that may hold the ends of an interval column."""
    return f"{name}_lo", f"{name}_hi"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun, in the plural where it must be."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Iterable[str]) -> str:
    """Write the names of columns, with the word before them; only those that the policy has may be written."""
    return _columns([repr(name) for name in names])


def placed(places: Iterable[int]) -> str:
    """Write the positions of columns, with the word before them."""
    return _columns([str(place) for place in places])


def _columns(which: Sequence[str]) -> str:
    return f"column {which[0]}" if len(which) == 1 else f"columns {', '.join(which[:-1])} and {which[-1]}"
