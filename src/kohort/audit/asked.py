"""What the checks ask of a table, wherever it is: in a database, or in Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from kohort.audit.read.dictionary import Dictionary

if TYPE_CHECKING:
    from kohort.audit.read.texts import Texts


class AuditTable(Protocol):
    """A table whose cells are texts that can be counted."""

    @property
    def header(self) -> tuple[str, ...]:
        """All column names of the source."""

    @property
    def columns(self) -> Mapping[str, str]:
        """Column name to the name by which it is asked for, of the columns that can be."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def dictionary(self, column: str) -> Dictionary:
        """The distinct texts of a quasi-identifier, and how many rows have each."""

    def repeats(self, columns: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """How many different values some columns have, and in how many rows one of them is."""

    def combinations(self, columns: Sequence[str]) -> tuple[int, int]:
        """How many distinct rows some columns have, and how many rows are equal to no other."""

    def differences(self, other: Self, columns: Sequence[str]) -> Iterator[tuple[str, str | None, int]]:
        """Say how many more rows than another table it has of each text of some columns, where that differs."""


def texts_of(table: AuditTable | None, name: str) -> Texts | None:
    """The distinct texts of a column, if there is such a table and column."""
    return None if table is None or name not in table.columns else table.dictionary(name).values
