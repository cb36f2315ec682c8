"""Dictionaries of a table: what number stands for a value, whichever partition it is met in.

They are made once from the distinct values of each column, by the same encoding as in memory; an engine then only
looks values up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl

from kohort.codes.encode import Axis, encode_column
from kohort.errors import CellError, DataError, PolicyError
from kohort.policy import Policy
from kohort.policy.sections import Role
from kohort.privacy import PrivacyModel, Promise, Reference, SensitiveModel, reference_of
from kohort.release.prepare import spelled
from kohort.table.numbers import plain_numbers
from kohort.table.texts import as_texts
from kohort.table.types import typed_column

OWN = "__kohort_"
"""How the names of an engine's own columns begin."""
COUNT = f"{OWN}count"
CODE = f"{OWN}code"
Distinct = Callable[[tuple[str, ...]], pl.DataFrame]
"""The distinct combinations of some columns, with the number of their records in the column COUNT."""


@dataclass(frozen=True)
class Lookup:
    """A dictionary: some columns of the table -> a number, or null for a value that does not take part."""

    name: str
    """Column that holds the number."""
    columns: tuple[str, ...]
    table: pl.DataFrame
    """The columns as the table has them, distinct, and CODE."""


def encoded(policy: Policy, role: Role, distinct: Distinct) -> tuple[tuple[Axis, ...], list[Lookup]]:
    """Axis and dictionary of every column of a role; all faults are reported."""
    axes, lookups = [], []
    faults: list[str] = []
    for number, name in enumerate(policy.having_role(role)):
        found = distinct((name,))
        values, counts = found[name], found[COUNT]
        try:
            typed = typed_column(spelled(values, policy) if role == "sensitive" else values, policy)
            known = typed.is_not_null() | (role != "quasi" or policy.privacy.missing in ("own-value", "wildcard"))
            counts = counts.filter(known)
            axis, some = encode_column(typed.filter(known), policy.columns[name], policy)
        except CellError as error:
            # These are rows of the dictionary, not of the table.
            faults += error.of_counts(counts.to_list()).faults
            continue
        except (DataError, PolicyError) as error:
            faults += error.faults
            continue
        codes = pl.repeat(None, len(values), dtype=pl.Int32, eager=True).scatter(known.arg_true(), pl.Series(some))
        axes.append(axis)
        lookups.append(Lookup(f"{OWN}{role}_{number}", (name,), pl.DataFrame([values, codes.alias(CODE)])))
    DataError.refuse(faults)
    return tuple(axes), lookups


class ByLookups(ABC):
    """A table of an engine that finds the numbers of values in dictionaries."""

    @abstractmethod
    def distinct(self, columns: tuple[str, ...]) -> pl.DataFrame:
        """The distinct combinations of some columns, with the number of their records in the column COUNT."""

    @abstractmethod
    def coded(self, lookups: Sequence[Lookup]) -> Self:
        """The table with the numbers of some dictionaries, without the records that have none."""

    def encoded(self, policy: Policy, role: Role) -> tuple[tuple[Axis, ...], Self]:
        """The axes of all columns of a role, and the table with their codes."""
        axes, lookups = encoded(policy, role, self.distinct)
        return axes, self.coded(lookups)


def promised(
    policy: Policy, models: Iterable[PrivacyModel], distinct: Distinct
) -> tuple[tuple[Promise, ...], list[Lookup]]:
    """The promises about sensitive values, and the dictionaries of these; models about the same share one.

    Parameters
    ----------
    distinct : callable
        Of the records that take part.
    """
    promises = []
    lookups: dict[tuple[str, ...], Lookup] = {}
    references: dict[tuple[str, ...], Reference] = {}
    for model in models:
        if not isinstance(model, SensitiveModel):
            continue
        columns = tuple(model.columns)
        if columns not in lookups:
            counted = distinct(columns)
            texts = {name: plain_numbers(as_texts(counted[name]), policy).to_list() for name in columns}
            references[columns], numbers = reference_of(policy, texts, counted[COUNT].to_numpy())
            coded = counted.select(columns).with_columns(pl.Series(CODE, numbers.astype(np.int32)))
            lookups[columns] = Lookup(f"{OWN}value_{len(lookups)}", columns, coded)
        promises.append(Promise(model, references[columns], np.empty(0, np.int64), lookups[columns].name))
    return tuple(promises), list(lookups.values())
