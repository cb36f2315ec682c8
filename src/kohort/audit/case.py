"""What an audit looks at, loaded and read once for all checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kohort.audit.classes import ClassSizes
from kohort.audit.order import Order
from kohort.audit.published import PublishedColumn
from kohort.audit.table import Table
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
        Which original row each released row comes from, if the caller said so.
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

    @property
    def order_given(self) -> bool:
        """Whether the caller said which original row each released row comes from."""
        return self.order is not None

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
        return self.order_given or self.original.rows == self.release.rows

    @property
    def order_known(self) -> bool:
        """Whether it is certain which original row each released row comes from.

        A shuffled file may fit the order of the original by chance, so a fit is not enough.
        """
        return self.order_given or (self.policy.output.order == "kept" and self.is_paired)

    @property
    def absent(self) -> list[str]:
        """Columns that the policy publishes and the release does not have."""
        return [
            name for name in self.policy.columns if name not in self.policy.dropped and name not in self.release.columns
        ]

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
