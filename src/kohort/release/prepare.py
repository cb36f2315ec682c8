"""Table + plan -> what an algorithm works on; what cannot be is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.codes.encode import Codes, encode
from kohort.codes.population import coverages_of
from kohort.errors import InfeasibleError, PolicyError
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.privacy import Promise, Reference, SensitiveModel, SizeModel, models_of, reference_of
from kohort.privacy.reference import taxonomy_of
from kohort.release.plan import Plan
from kohort.search.task import Task
from kohort.table import Table, typed_columns, typed_quasi_identifiers
from kohort.table.spelling import one_spelling
from kohort.table.texts import as_texts


@dataclass(frozen=True)
class Records:
    """The records of a table, typed, and those of them that take part."""

    everyone: pl.DataFrame
    kept: NDArray[np.int64]
    """Rows that take part, ascending: those with a missing quasi-identifier may not."""

    @property
    def without(self) -> int:
        """Records that do not take part."""
        return self.everyone.height - len(self.kept)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The records that take part."""
        return self.everyone[self.kept] if self.without else self.everyone

    def codes(self, policy: Policy) -> Codes:
        """Codes of the records that take part, on axes that are those of the whole table.

        What is lost is a share of what the table holds, whoever takes part.
        """
        codes = encode(self.everyone, policy)
        if not self.without:
            return codes
        array = np.ascontiguousarray(codes.array[self.kept])
        array.setflags(write=False)
        return Codes(array, tuple(replace(axis, has_missing=False) for axis in codes.axes))


def records_of(source: Table, policy: Policy) -> Records:
    """The records of a table, without a judgement on those that do not take part."""
    policy.check_columns(source.frame.columns, source.name)
    frame = typed_quasi_identifiers(source.frame, policy, source.zones)
    if policy.privacy.missing not in ("suppress", "refuse"):
        return Records(frame, np.arange(frame.height))
    missing = frame.select(pl.any_horizontal(pl.col(policy.quasi_identifiers).is_null())).to_series()
    return Records(frame, (~missing).arg_true().to_numpy().astype(np.int64))


def usable_records(source: Table, policy: Policy) -> Records:
    """The same; refused if too many records do not take part."""
    records = records_of(source, policy)
    if records.without and policy.privacy.missing == "refuse":
        first = int(np.setdiff1d(np.arange(records.everyone.height), records.kept)[0])
        raise refused_missing(records.without, policy, f" (first in row {first + 1})")
    if records.without:
        refuse_suppressing(records.without, records.everyone.height, policy, "miss a quasi-identifier")
    return records


def refused_missing(records: int, policy: Policy, where: str = "") -> PolicyError:
    """That some records miss a quasi-identifier, and the policy refuses them."""
    fault = (
        f"{records} records miss a quasi-identifier{where} and missing = 'refuse'; complete them, or choose "
        "own-value or suppress."
    )
    return PolicyError(policy.located(("privacy", "missing"), fault))


def refuse_suppressing(records: int, of: int, policy: Policy, why: str) -> None:
    """Refuse to withhold more records than the policy allows."""
    if not policy.privacy.may_suppress(records, of):
        raise InfeasibleError(
            policy.located(
                ("privacy", "suppression_limit"),
                f"{records} of {of} records {why} and would be suppressed, which is {records / of:.2%} and over the "
                f"suppression_limit of {policy.privacy.suppression_limit:.2%}; raise the limit, or change the policy.",
            )
        )


def allowance_of(policy: Policy, records: int, without: int) -> int:
    """How many records of a table may be suppressed beside those that do not take part."""
    return math.floor(Fraction(str(policy.privacy.suppression_limit)) * records) - without


def refuse_the_impossible(
    plan: Plan, frame: pl.DataFrame, suppressed: int, persons: NDArray[np.int64] | None = None
) -> None:
    """Refuse what no release of these usable records, about these persons, can keep."""
    refuse_numbers(plan, frame.height, suppressed, lambda model: promise_of(model, frame, plan.policy).table)
    if persons is not None and persons.max() + 1 < plan.policy.privacy.k:
        reason = f"k = {plan.policy.privacy.k} is more than the {persons.max() + 1} persons who take part"
        raise PolicyError(plan.policy.located(("privacy", "k"), f"{reason}; choose a smaller k."))


def refuse_numbers(plan: Plan, records: int, suppressed: int, values_of: Callable[[SensitiveModel], Reference]) -> None:
    """Refuse what no release of so many usable records, with these sensitive values, can keep."""
    k, *others = models_of(plan.policy)
    allowance = allowance_of(plan.policy, records + suppressed, suppressed)
    reason = k.refuses(records, suppressed)
    if reason:
        raise PolicyError(plan.policy.located(("privacy", "k"), f"{reason}."))
    for index, model in enumerate(others):
        reason = model.refuses(records, suppressed)
        if isinstance(model, SensitiveModel):
            reason = model.refuses_values(values_of(model), allowance)
        if reason:
            raise InfeasibleError(plan.policy.located(("privacy", "models", index), f"{reason}."))


def promise_of(model: SensitiveModel, frame: pl.DataFrame, policy: Policy) -> Promise:
    """What a model promises about the records of a table.

    An empty text is a missing value: who reads a CSV file cannot tell them apart.
    """
    # Under names of our own: a column may have any name.
    own = {name: f"c{number}" for number, name in enumerate(model.columns)}
    columns = pl.DataFrame([as_texts(frame[name]).alias(own[name]) for name in own])
    counted = columns.with_row_index("row").group_by(*own.values(), maintain_order=True).agg("row")
    counts = counted["row"].list.len().to_numpy()
    texts = {name: counted[own[name]].to_list() for name in own}
    table, number = reference_of(policy, texts, counts)
    values = np.empty(frame.height, np.int64)
    values[counted["row"].explode().to_numpy()] = np.repeat(number, counts)
    return Promise(model, table, values)


def spelled(series: pl.Series, policy: Policy) -> pl.Series:
    """A sensitive column with one spelling for each value, as its tree has it where there is one."""
    taxonomy = taxonomy_of(policy, series.name)
    return one_spelling(series, policy, () if taxonomy is None else taxonomy.leaf_labels)


def task_of(
    plan: Plan,
    frame: pl.DataFrame,
    codes: Codes,
    records: int,
    progress: Callable[[float], None],
    note: Callable[[str], None] = lambda text: None,
) -> Task:
    """What the algorithm works on.

    Parameters
    ----------
    frame : DataFrame
        The records that take part, typed.
    records : int
        All records of the table; those that do not take part count against the suppression limit.
    """
    policy = plan.policy
    sensitive = None
    if plan.algorithm.wants_sensitive(policy):
        told = pl.DataFrame([spelled(frame[name], policy) for name in policy.having_role("sensitive")])
        sensitive = encode(typed_columns(told, policy, "sensitive"), policy, "sensitive")
    models = models_of(policy)
    return Task(
        codes=codes,
        measure=plan.measure,
        costs=compile_costs(plan.measure, codes.axes),
        k=max([policy.privacy.k, *(model.least_size for model in models if isinstance(model, SizeModel))]),
        rng=np.random.default_rng(plan.seed),
        progress=progress,
        sensitive=sensitive,
        promises=tuple(promise_of(model, frame, policy) for model in models if isinstance(model, SensitiveModel)),
        coverages=coverages_of(policy, frame, codes),
        allowance=allowance_of(policy, records, records - frame.height),
        seconds=policy.algorithm.seconds,
        note=note,
    )
