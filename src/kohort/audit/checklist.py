"""The one list of checks: what is asked of a release under a policy, in which order, and what each question needs.

In memory, in limited memory and in Spark the same list is asked. What cannot be asked somewhere is refused there if
the policy promises it, since silence would be a promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Flag, auto
from functools import partial
from typing import Any, TypeAlias

from kohort.audit.case import Case, LoadedCase
from kohort.audit.checks import buckets, consistency, persons, population, precision, promise, pseudonyms, sets, truth
from kohort.audit.checks.repeats import repeated_identifiers
from kohort.audit.earlier.intersection import intersection
from kohort.audit.earlier.invariance import invariance
from kohort.audit.verdict import Check
from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.privacy import PopulationModel, PrivacyModel, SensitiveModel, SetModel, SizeModel, models_of


class Need(Flag):
    """What a check needs beside the counted texts of a release."""

    ORIGINAL = auto()
    """The table that the release was made of: without it, the question is not asked."""
    ROWS = auto()
    """Rows that can be read one by one: the case is a `LoadedCase`."""
    ORDER = auto()
    """Rows that have an order; where it is not known, what depends on it fails."""
    WHOLE = auto()
    """As much memory as the table takes."""
    SENSITIVE_TABLE = auto()
    """The second table of a release in buckets."""
    LEDGER = auto()
    """Earlier releases."""


NOTHING = Need(0)
Place: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Question:
    """A check, and what it needs."""

    name: str
    """Of the check in the verdict."""
    ask: Callable[[Any], Check | None]
    """Takes the case; a `LoadedCase` if it needs rows. None is the answer where there is nothing to ask."""
    needs: Need = NOTHING
    """What must be there."""
    place: Place = ()
    promised: str = ""
    """Where in the policy it is promised, and how messages call it; empty if every policy promises it, or none."""


def checklist(policy: Policy, *, strict: bool = False) -> Iterator[Question]:
    """Everything that is asked of a release, in the order of the verdict, whose reason is the first that fails.

    Parameters
    ----------
    strict : bool
        Whether privacy models must also hold against someone who knows all other sensitive columns.
    """
    in_buckets, second = policy.privacy.anonymity == "buckets", Need.ROWS | Need.SENSITIVE_TABLE
    yield Question("columns", buckets.columns, second) if in_buckets else Question("columns", promise.columns)
    if policy.pseudonyms:
        place: Place = ("columns", policy.pseudonyms[0], "pseudonym")
        yield Question("pseudonyms", pseudonyms.pseudonyms, Need.ROWS, place, "pseudonyms")
    yield _of_k(policy)
    if policy.privacy.person is not None:
        place, promised = ("privacy", "person"), "k persons in every class"
        yield Question("persons", persons.persons, Need.ROWS | Need.ORDER, place, promised)
    else:
        yield Question("repeats", repeated_identifiers, Need.ORIGINAL)
    if in_buckets:
        yield Question("diversity", buckets.diversity, second)
    yield Question("missing", promise.missing)
    yield Question("suppression", promise.suppression)
    yield Question("rows", truth.rows, Need.ORIGINAL)
    yield Question("domain", promise.domain)
    yield Question("precision", precision.precision)
    of_sets: tuple[Place, str] = (("columns", *policy.sets), "a column of sets")
    if policy.sets:
        yield Question("sets", sets.cells, Need.ROWS | Need.WHOLE, *of_sets)
    if policy.output.order == "kept":
        needs = Need.ORIGINAL | Need.ORDER
        yield Question("coverage", truth.coverage, needs, ("output", "order"), "order = 'kept'")
    else:
        yield Question("coverage", truth.coverage, Need.ORIGINAL)
    if policy.sets:
        yield Question("items", sets.items, Need.ROWS | Need.WHOLE | Need.ORIGINAL)
    yield Question("values", truth.values, Need.ORIGINAL)
    if in_buckets:
        yield Question("sensitive", buckets.sensitive, second | Need.ORIGINAL)
    # ends that the policy does not promise are looked at all the same, where that is possible
    promised = "bounds = true" if policy.output.bounds else ""
    yield Question("bounds", truth.bounds, Need.ROWS, ("output", "bounds"), promised)
    for number, model in enumerate(models_of(policy)[1:]):
        if in_buckets:
            yield Question(model.name, partial(buckets.model, model=model), second)
        else:
            yield _of_model(model, number, strict=strict)
    earlier = Need.ROWS | Need.WHOLE | Need.LEDGER
    yield Question("m-invariance", invariance, earlier | Need.ORDER)
    yield Question("intersection", intersection, earlier)


def _of_k(policy: Policy) -> Question:
    """What k means under the policy."""
    kind, place = policy.privacy.anonymity, ("privacy", "anonymity")
    if kind == "matchings":
        return Question("k", consistency.consistency, Need.ROWS | Need.WHOLE, place, f"anonymity = {kind!r}")
    if kind == "buckets":
        return Question("k", buckets.k, Need.ROWS | Need.SENSITIVE_TABLE, place, f"anonymity = {kind!r}")
    if policy.privacy.missing == "wildcard":
        return Question("k", promise.k, Need.ROWS, ("privacy", "missing"), "missing = 'wildcard'")
    return Question("k", promise.k)


def _of_model(model: PrivacyModel, number: int, *, strict: bool) -> Question:
    if isinstance(model, SizeModel):
        return Question(model.name, partial(promise.sizes, model=model))
    if isinstance(model, PopulationModel):
        place = ("privacy", "models", number)
        ask = partial(population.population, model=model, number=number)
        return Question(model.name, ask, Need.ROWS, place, model.name)
    if isinstance(model, SetModel):
        place = ("privacy", "models", number)
        return Question(model.name, partial(sets.promised, model=model), Need.ROWS | Need.WHOLE, place, model.name)
    if isinstance(model, SensitiveModel):
        return Question(model.name, partial(promise.sensitive, model=model, strict=strict))
    return Question(model.name, lambda _: promise.unknown(model))


def given(case: Case) -> Need:
    """What there is for checks."""
    found = NOTHING if case.original is None else Need.ORIGINAL
    if isinstance(case, LoadedCase):
        found |= Need.ROWS | Need.ORDER | Need.WHOLE
        found |= NOTHING if case.sensitive is None else Need.SENSITIVE_TABLE
        found |= NOTHING if case.ledger is None else Need.LEDGER
    return found


def answers(case: Case, *, strict: bool) -> list[Check]:
    """Ask everything that can be asked."""
    there = given(case)
    asked = (item.ask(case) for item in checklist(case.policy, strict=strict) if item.needs in there)
    return [check for check in asked if check is not None]


def unanswerable(policy: Policy, lacking: Need) -> list[Question]:
    """What the policy promises and cannot be checked where something is lacking."""
    return [item for item in checklist(policy) if item.promised and item.needs & lacking]


def refuse_unanswerable(policy: Policy, lacking: Need, why: Callable[[Question], str]) -> None:
    """Refuse what cannot be checked where something is lacking: silence would be a promise."""
    PolicyError.refuse(policy.located(one.place, f"{one.promised}{why(one)}") for one in unanswerable(policy, lacking))
