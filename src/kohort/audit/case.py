"""What an audit looks at, loaded and read once for all checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from typing_extensions import override

from kohort.audit.asked import AuditTable
from kohort.audit.checks.classes import ClassSizes
from kohort.audit.checks.coverage import Covered, Lines, covered, lines_of
from kohort.audit.checks.histograms import Judged, of_classes
from kohort.audit.checks.rowwise import outside
from kohort.audit.earlier.invariance import people_of
from kohort.audit.earlier.shown import Sight, sight_of
from kohort.audit.ledger import Ledger, People, PersonKey
from kohort.audit.meaning.order import Order
from kohort.audit.meaning.published import ENDS, STAR, PublishedColumn, bound_names
from kohort.audit.meaning.values import differing, surplus
from kohort.audit.read.table import Table
from kohort.policy import Policy
from kohort.privacy import SensitiveModel


@dataclass(frozen=True)
class Case(ABC):
    """A release, its policy and, if it was given, the original: what is counted, in tables of any kind."""

    policy: Policy
    release: AuditTable
    original: AuditTable | None
    columns: Mapping[str, PublishedColumn]
    """The quasi-identifiers that the release has, and how each is read."""
    classes: ClassSizes | None
    """Sizes of distinct published combinations; None in buckets, and when a quasi-identifier is not in the release."""
    starred: int
    """Rows with ``*`` in every quasi-identifier."""

    always_strict: ClassVar[bool] = False
    """Whether it is counted in any case what is left to somebody who knows the other sensitive columns."""

    @abstractmethod
    def judged(self, model: SensitiveModel, known: Sequence[str] = ()) -> Judged:
        """Judge every class by a privacy model.

        Parameters
        ----------
        known : sequence of str
            Further columns by which records of a class differ.
        """

    @property
    def order_said(self) -> bool:
        """Whether somebody says which original row each released row comes from: the caller, or the policy.

        Then cells are compared with those of their own rows, and what differs is a fault.
        """
        return False

    @property
    def out_of_order(self) -> str | None:
        """What is wrong if the policy keeps the order and the rows do not stand in that of the original."""
        return None

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
        return covered(self.lines, self.release, self.original)

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
        return surplus(self.policy, self.release, self.original, self.unchanged)

    @property
    def sets(self) -> list[str]:
        """The columns of sets that the release has."""
        return [name for name in self.policy.sets if name in self.release.columns]

    @property
    def absent(self) -> list[str]:
        """Columns that the policy publishes and the release does not have."""
        dropped = set(self.policy.dropped)
        return [name for name in self.policy.columns if name not in dropped and name not in self.release.columns]

    def bounds(self, name: str) -> dict[str, str]:
        """Name the columns of the release that hold the ends of a quasi-identifier, or the middle: column to which."""
        return {
            column: end
            for end, column in zip(ENDS, bound_names(name), strict=True)
            if column in self.release.header and column not in self.policy.columns
        }


@dataclass(frozen=True)
class LoadedCase(Case):
    """A case whose rows can be read one by one, so that they have an order."""

    release: Table
    original: Table | None
    order: Order | None
    """Which original row each released row comes from: the caller said so, or it was found."""
    sensitive: Table | None = None
    """The second table of a release in buckets."""
    ledger: Ledger | None = None
    """Earlier releases."""
    persons: PersonKey | None = None
    """How persons in them are recognised."""
    found: bool = False
    """Whether the order was found, as that of the original without the rows that are withheld."""
    several: bool = False
    """Whether it is one of several that fit."""
    too_large: bool = False
    """Whether it was not looked for, as the tables are too large for the memory."""
    read: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False, compare=False)
    """What checks have read of columns of sets, by table and column: several ask for it."""

    always_strict = True

    def judged(self, model: SensitiveModel, known: Sequence[str] = ()) -> Judged:
        """Judge every class by a privacy model; the database counts."""
        starred = bool(self.starred_class)
        quasi = list(self.columns)
        found = of_classes(self.release, quasi, model.columns, self.policy, starred=starred, known=known)
        return found.judged(model.keeps)

    @property
    def order_given(self) -> bool:
        """Whether the caller said which original row each released row comes from."""
        return self.order is not None and not self.found

    @property
    def is_paired(self) -> bool:
        """Whether each released row has an original row to be compared with."""
        if self.original is None:
            return False
        return self.order is not None or self.original.rows == self.release.rows

    @property
    def keeps_order(self) -> bool:
        """Whether the policy says that the rows stand in the order of the original, and there is one."""
        return self.policy.output.order == "kept" and self.original is not None

    @property
    def order_said(self) -> bool:
        """Whether somebody says which original row each released row comes from: the caller, or the policy."""
        return self.order_given or (self.keeps_order and self.is_paired)

    @cached_property
    def order_known(self) -> bool:
        """Whether it is certain which original row each released row comes from.

        The caller says so, or the policy does and nothing speaks against it: every cell fits its own row, in this
        order and no other. A shuffled file may fit the order of the original by chance, so a fit is not enough.
        """
        return self.order_given or (self.order_said and not self.several and self.out_of_order is None)

    @cached_property
    @override
    def out_of_order(self) -> str | None:
        if not self.keeps_order or self.order_given:
            return None
        if self.is_paired:
            uncovered = any(column.row_by_row for column in self.covered.values())
            if not uncovered and not any(self.not_original.values()):
                return None
        if self.too_large:
            return "rows are withheld, and there is not enough memory to find out which; give row_order, or more memory"
        return "the rows do not stand in the order of the original, though order = 'kept'; give row_order"

    @property
    def order_unknown(self) -> str:
        """Why it is not known which original row each row comes from, and what to give."""
        if self.out_of_order:
            return self.out_of_order
        if self.several:
            return "rows are withheld, and it is not certain which; give row_order"
        return "it is not known which original row each row comes from; give row_order"

    @cached_property
    def covered(self) -> Mapping[str, Covered]:
        """How the quasi-identifiers fare against the original, row by row where rows can be paired."""
        if self.original is None or not self.is_paired:
            return super().covered
        uncovered = outside(self.release, self.original, self.order, self.lines.questions)
        return covered(self.lines, self.release, self.original, uncovered)

    @cached_property
    @override
    def not_original(self) -> Mapping[str, int]:
        if self.original is None or not self.order_said:
            return super().not_original
        return differing(self.policy, self.release, self.original, self.unchanged, self.order)

    @cached_property
    def sight(self) -> Sight | None:
        """What the release shows, as a ledger keeps it; None when it lacks a column."""
        return sight_of(self)

    @cached_property
    def people(self) -> People | None:
        """Who is in the release, as a ledger keeps it; None where persons are not recognised."""
        return None if self.persons is None or self.sight is None else people_of(self, self.sight, self.persons)
