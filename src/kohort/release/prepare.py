"""What no release of a table can keep is refused, by the numbers of its records alone."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from kohort.errors import InfeasibleError, PolicyError
from kohort.policy import Policy
from kohort.privacy import Reference, SensitiveModel
from kohort.privacy.reference import taxonomy_of
from kohort.release.plan import Plan
from kohort.table.spelling import one_spelling


def refused_missing(records: int, policy: Policy, where: str = "") -> PolicyError:
    """That some records miss a quasi-identifier, and the policy refuses them."""
    fault = (
        f"{records:,} records miss a quasi-identifier{where} and missing = 'refuse'; complete them, or choose "
        "own-value or suppress."
    )
    return PolicyError(policy.located(("privacy", "missing"), fault))


def refuse_suppressing(records: int, of: int, policy: Policy, why: str) -> None:
    """Refuse to suppress more records than the policy allows."""
    if not policy.privacy.may_suppress(records, of):
        raise InfeasibleError(
            policy.located(
                ("privacy", "suppression_limit"),
                f"{records:,} of {of:,} records ({100 * records / of:.2f} %) {why} and would be suppressed; "
                f"suppression_limit is {100 * policy.privacy.suppression_limit:.2f} %; raise it, or change the policy.",
            )
        )


def refuse_numbers(plan: Plan, records: int, suppressed: int, values_of: Callable[[SensitiveModel], Reference]) -> None:
    """Refuse what no release of this number of usable records, with these sensitive values, can keep."""
    allowance = plan.allowance(records + suppressed, suppressed)
    reason = plan.models[0].refuses(records, suppressed)
    if reason:
        raise PolicyError(plan.policy.located(("privacy", "k"), f"{reason}."))
    for place, model in plan.others:
        reason = model.refuses(records, suppressed)
        if isinstance(model, SensitiveModel):
            reason = model.refuses_values(values_of(model), allowance)
        if reason:
            raise InfeasibleError(plan.policy.located(place, f"{reason}."))


def refuse_few_persons(plan: Plan, persons: int) -> None:
    """Refuse a table about fewer persons than a class must have."""
    if persons < plan.policy.privacy.k:
        reason = f"k = {plan.policy.privacy.k} is more than the {persons:,} persons who take part"
        raise PolicyError(plan.policy.located(("privacy", "k"), f"{reason}; choose a smaller k."))


def spelled(series: pl.Series, policy: Policy) -> pl.Series:
    """A sensitive column with one spelling for each value, as its tree has it where there is one."""
    taxonomy = taxonomy_of(policy, series.name)
    return one_spelling(series, policy, () if taxonomy is None else taxonomy.leaf_labels)
