"""Risk: how easily people are found in a table, an original or a release of any tool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kohort.errors import DataError
from kohort.policy import Policy
from kohort.reports.published import (
    Original,
    Published,
    kind_of,
    opened,
    original_of,
    policy_for,
    read_beside,
    refuse_other,
)
from kohort.reports.risk.containment import Containment
from kohort.reports.risk.exposure import Exposure, exposure_of
from kohort.reports.risk.people import People
from kohort.reports.risk.result import Risk

__all__ = ["Risk", "risk"]

_OF_FORMS = {
    "matchings": (
        "In this release the rows of a group differ, so classes of equal rows say little about it: what counts is how "
        "many rows fit a record, which --original shows."
    ),
    "buckets": (
        "In this release quasi-identifiers are published as they are: rows are found as in the original, and what is "
        "hidden is which sensitive value of its bucket a row has."
    ),
}
"""What the figures do not say about releases in other forms than classes."""


def risk(
    table: Any,
    policy: Policy | str | Path | None = None,
    *,
    original: Any = None,
    population: Any = None,
    population_size: int | None = None,
    sampling_fraction: float | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    k: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Risk:
    """How easily people are found in a table.

    Parameters
    ----------
    table
        An original or a release of any tool: a path, or a polars, pandas or pyarrow table.
    policy : Policy or path, optional
        Which columns are which. Without one and without `quasi_identifiers`, the verdict beside the file says it.
    original : optional
        The table that a release was made of: figures before and after, and how many rows cover each of its records.
    population : optional
        A table of the people that the rows are about, with the quasi-identifiers.
    population_size : int, optional
        Without such a table: how many people they are a random sample of.
    sampling_fraction : float, optional
        Or their share of these people.
    quasi_identifiers, sensitive : sequence of str, optional
        Without a policy: columns by role. All others are published as they are.
    k : int, optional
        The promised size of a class, instead of the policy's.
    progress : callable, optional
        Called with a step and the share of it that is done.

    Returns
    -------
    Risk
        Figures of prosecutor, journalist and marketer, of classes, columns and the population. Rows are in one class if
        their quasi-identifiers are written alike.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 64, 66], "sex": ["F", "F", "M", "M"]})
    >>> found = kohort.risk(people, quasi_identifiers=["age", "sex"])
    >>> found.file.quasi.unique, found.file.quasi.prosecutor.mean
    (2, 0.75)
    """
    people = People(population, population_size, sampling_fraction)
    chosen, stated = _policy(table, policy, original, k, quasi_identifiers, sensitive)
    watch = progress or (lambda _step, _share: None)
    what = kind_of(table, chosen)
    with opened(table, chosen, as_is=True, what=what) as file:
        source = _source(table, chosen) if what == "original" and population is not None else None
        found = Risk(
            file=_exposure(file, people, source, partial(watch, "columns")),
            k=chosen.privacy.k if stated and chosen.privacy.anonymity != "buckets" else None,
            in_classes=what == "original" or chosen.privacy.anonymity == "classes",
            is_counted=population is not None,
            caveats=_caveats(chosen),
        )
        if original is None:
            return found
        source = _source(original, chosen)
        refuse_other(file.rows, source)
        contained, why_not = _contained(file.beside(source), found.k)
    with opened(original, chosen, as_is=True, what="original") as before:
        exposure = _exposure(before, people, source, partial(watch, "columns of the original"))
    return replace(found, original=exposure, containment=contained, caveats=(*found.caveats, *why_not))


def _source(original: Any, policy: Policy) -> Original:
    return original_of(read_beside(original, policy), policy, precise=True)


def _exposure(table: Published, people: People, source: Original | None, report: Callable[[float], None]) -> Exposure:
    """Look at a table, which is an original if `source` is there, and at the people that it may be about."""
    size, counted = people.number(table.rows), None
    if people.table is not None:
        size, counted = people.of_release(table) if source is None else people.of_original(table, source)
    return exposure_of(table, population=size, people=counted, report=report)


def _policy(
    table: Any,
    policy: Policy | str | Path | None,
    original: Any,
    k: int | None,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
) -> tuple[Policy, bool]:
    """What the table is read by, and whether that states a k."""
    stated = k is not None or policy is not None or not quasi_identifiers
    chosen = policy_for(
        table,
        policy,
        k=k if stated else 2,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        original=original,
    )
    if not stated:  # no class of `*` has the size that was promised
        chosen = chosen.with_changes("output", suppressed="starred")
    return chosen, stated


def _contained(beside: Published, k: int | None) -> tuple[Containment | None, tuple[str, ...]]:
    """The rows that cover each record; or why nobody can say, such as for labels of an unknown hierarchy."""
    try:
        return Containment.of(beside, k), ()
    except DataError as error:
        why = "".join(error.faults).removesuffix(".")
        return None, (f"How many rows fit a record is not known: {why}.",)


def _caveats(policy: Policy) -> tuple[str, ...]:
    """What these figures do not say."""
    found = [_OF_FORMS[policy.privacy.anonymity]] if policy.privacy.anonymity in _OF_FORMS else []
    if policy.privacy.person is not None:
        found.append("Rows are counted, and a person may have several: the chance of finding a person may be larger.")
    return tuple(found)
