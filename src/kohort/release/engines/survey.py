"""Plan + a way to look at the whole table -> the job."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import polars as pl

from kohort.codes.encode import Axis
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.policy.sections import Role
from kohort.release.engines.job import Job
from kohort.release.engines.lookups import OWN, Lookup, promised
from kohort.release.plan import Plan
from kohort.release.prepare import refuse_numbers, refuse_suppressing, refused_missing
from kohort.release.pseudonyms import Key


class Scan(Protocol):
    """A table that is somewhere else, and larger than memory."""

    @property
    def records(self) -> int:
        """Number of records."""

    @property
    def columns(self) -> Sequence[str]:
        """Names of all columns."""

    def distinct(self, columns: tuple[str, ...]) -> pl.DataFrame:
        """The distinct combinations of some columns, with the number of their records in the column COUNT."""

    def counted(self, columns: Sequence[str], condition: str) -> pl.DataFrame:
        """The same, of the records for which a condition in SQL holds."""

    @property
    def where(self) -> str:
        """Where the first record is that does not take part, for messages; empty where rows have no numbers."""

    def coded(self, lookups: Sequence[Lookup]) -> Self:
        """The table with the numbers of some dictionaries, without the records that have none."""

    def encoded(self, policy: Policy, role: Role) -> tuple[tuple[Axis, ...], Self]:
        """The axes of all columns of a role, and the table with their codes, without the records that have none."""


S = TypeVar("S", bound=Scan)


@dataclass(frozen=True)
class Usable(Generic[S]):
    """The records of a table that take part, with the codes of their quasi-identifiers."""

    scan: S
    axes: tuple[Axis, ...]
    records: int
    """All records of the table."""

    @property
    def without(self) -> int:
        """Records that do not take part."""
        return self.records - self.scan.records


def usable(policy: Policy, scan: S, name: str = "the table") -> Usable[S]:
    """Encode the quasi-identifiers; refuse a table that does not fit the policy, or of which too few records do.

    Parameters
    ----------
    name : str
        What messages call the table.
    """
    policy.check_columns(scan.columns, name)
    axes, coded = scan.encoded(policy, "quasi")
    found = Usable(coded, axes, scan.records)
    if found.without and policy.privacy.missing == "refuse":
        raise refused_missing(found.without, policy, coded.where)
    if found.without:
        refuse_suppressing(found.without, found.records, policy, "miss a quasi-identifier")
    return found


def survey(plan: Plan, found: Usable[S], secret: Key | None = None) -> tuple[Job, S]:
    """Everything that the partitions have to know, and the table with all its numbers.

    Parameters
    ----------
    secret : Key, optional
        Of pseudonyms, where they are published.
    """
    policy = plan.policy
    promises, values = promised(policy, plan.models, found.scan.distinct)
    tables = {promise.model: promise.table for promise in promises}
    refuse_numbers(plan, found.scan.records, found.without, lambda model: tables[model])
    scan = found.scan.coded(values)
    sensitive: tuple[Axis, ...] = ()
    if plan.algorithm.wants_sensitive(policy):
        sensitive, scan = scan.encoded(policy, "sensitive")
    shuffle = policy.output.shuffle_seed
    dropped = set(policy.dropped)
    job = Job(
        plan=plan,
        columns=tuple(name for name in scan.columns if name not in dropped),
        axes=found.axes,
        records=scan.records,
        allowance=plan.allowance(found.records, found.without),
        shuffle=secrets.randbits(62) if shuffle is None else shuffle,
        sensitive=sensitive,
        promises=promises,
        secret=secret,
    )
    return job, scan


def refuse_own_names(columns: Sequence[str]) -> None:
    """Refuse a table with columns that an engine would take for its own."""
    own = [name for name in columns if name.startswith(OWN)]
    if own:
        raise DataError(f"column {own[0]!r}: names that begin with {OWN!r} are kohort's own; rename it.")
