"""Plan + a way to look at the whole table -> the job; what cannot be done in parts is refused."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

import polars as pl

from kohort.algorithms.base import Clusterer
from kohort.codes.encode import Axis
from kohort.errors import DataError, PolicyError
from kohort.privacy import PopulationModel, models_of
from kohort.release.engines.job import Job
from kohort.release.engines.lookups import OWN, Lookup, encoded, pledged
from kohort.release.plan import Plan
from kohort.release.prepare import allowance_of, refuse_numbers, refuse_suppressing, refused_missing
from kohort.release.pseudonyms import read_key


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

    def coded(self, lookups: Sequence[Lookup]) -> Self:
        """The table with the numbers of some dictionaries, without the records that have none."""


S = TypeVar("S", bound=Scan)


def refuse_parts(plan: Plan) -> None:
    """Refuse what needs the whole table at once."""
    policy, algorithm = plan.policy, plan.algorithm
    faults = []

    def refuse(keys: tuple[str | int, ...], what: str) -> None:
        faults.append(policy.located(keys, f"{what} in memory only; run without --memory and --engine, or remove it."))

    if not (isinstance(algorithm, Clusterer) or algorithm.searches) or algorithm.tables(policy):
        fault = f"{algorithm.name!r} needs the whole table in memory; choose another algorithm, such as 'auto'."
        faults.append(policy.located(("algorithm", "name"), fault))
    if policy.privacy.person is not None:
        refuse(("privacy", "person"), "persons are counted")
    for index, model in enumerate(models_of(policy)[1:]):
        if isinstance(model, PopulationModel):
            refuse(("privacy", "models", index), f"{model.name!r} is kept")
    if faults:
        raise PolicyError(*faults)


def survey(plan: Plan, scan: S) -> tuple[Job, S]:
    """Everything that the parts have to know, and the table with its numbers."""
    policy = plan.policy
    policy.check_columns(scan.columns)
    _refuse_own_names(scan.columns)
    axes, quasi = encoded(policy, "quasi", scan.distinct)
    usable = scan.coded(quasi)
    without = scan.records - usable.records
    if without and policy.privacy.missing == "refuse":
        raise refused_missing(without, policy)
    if without:
        refuse_suppressing(without, scan.records, policy, "miss a quasi-identifier")
    pledges, values = pledged(policy, usable.distinct)
    tables = {pledge.model: pledge.table for pledge in pledges}
    refuse_numbers(plan, usable.records, without, lambda model: tables[model])
    usable = usable.coded(values)
    sensitive: tuple[Axis, ...] = ()
    if plan.algorithm.wants_sensitive(policy):
        sensitive, lookups = encoded(policy, "sensitive", usable.distinct)
        usable = usable.coded(lookups)
    shuffle = policy.output.shuffle_seed
    dropped = set(policy.dropped)
    job = Job(
        plan=plan,
        columns=tuple(name for name in scan.columns if name not in dropped),
        axes=axes,
        records=usable.records,
        allowance=allowance_of(policy, scan.records, without),
        shuffle=secrets.randbits(62) if shuffle is None else shuffle,
        sensitive=sensitive,
        pledges=pledges,
        secret=read_key(policy),
    )
    return job, usable


def _refuse_own_names(columns: Sequence[str]) -> None:
    own = [name for name in columns if name.startswith(OWN)]
    if own:
        raise DataError(f"column {own[0]!r}: names that begin with {OWN!r} are kohort's own; rename it.")
