"""Before any work: find everything that a policy names, or refuse it."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kohort.algorithms import ALGORITHMS, Algorithm
from kohort.errors import PolicyError
from kohort.measures import MEASURES, Measure
from kohort.policy import Policy
from kohort.privacy import PopulationModel, PrivacyModel, SensitiveModel, SetModel, SizeModel, models_of
from kohort.privacy.reference import taxonomy_of


@dataclass(frozen=True)
class Plan:
    """A policy whose every choice has been found possible."""

    policy: Policy
    algorithm: Algorithm
    measure: Measure
    models: tuple[PrivacyModel, ...]
    """Every promise, k-anonymity first."""
    seed: int

    @property
    def k(self) -> int:
        """Smallest size of a class."""
        return max([self.policy.privacy.k, *(one.least_size for one in self.models if isinstance(one, SizeModel))])

    @property
    def of_sets(self) -> SetModel | None:
        """What is promised about the items of sets; None where there are none."""
        return next((model for model in self.models if isinstance(model, SetModel)), None)

    @property
    def others(self) -> Iterator[tuple[tuple[str | int, ...], PrivacyModel]]:
        """The promises beside k-anonymity, each with its place in the policy."""
        return ((("privacy", "models", index), model) for index, model in enumerate(self.models[1:]))

    def allowance(self, records: int, without: int) -> int:
        """How many records of a table may be suppressed beside those that do not take part."""
        return math.floor(Fraction(str(self.policy.privacy.suppression_limit)) * records) - without


def plan_of(policy: Policy) -> Plan:
    """Find everything that the policy names, or refuse: a constraint is never dropped."""
    faults: list[str] = []

    def found(keys: tuple[str, ...], make: Callable[[], Any]) -> Any:
        try:
            return make()
        except PolicyError as error:
            # Faults of the privacy models know their own lines.
            faults.extend(policy.located(keys, fault) if keys else fault for fault in error.faults)

    chosen = policy.algorithm
    algorithm = found(("algorithm", "name"), lambda: ALGORITHMS.make(chosen.name, chosen.parameters))
    measure = found(("algorithm", "measure"), lambda: MEASURES.make(chosen.measure.name, chosen.measure.parameters))
    models = found((), lambda: models_of(policy))
    if algorithm and models:
        faults += [
            policy.located(
                ("privacy", "models"), f"algorithm {chosen.name!r} cannot keep {model.name!r}; {_who(model.name)}."
            )
            for model in models
            if model.name not in algorithm.keeps and not _is_repaired(policy, algorithm, model)
        ]
        faults += _other_promise(policy, algorithm)
        faults += _not_with_sets(policy, algorithm, models)
        faults += [policy.located(("algorithm", "name"), fault) for fault in algorithm.refuses(policy)]
        if chosen.budget is not None and not chosen.refine and not algorithm.searches:
            fault = f"a budget is for a search, and {chosen.name!r} is none; set refine = true, or remove the budget."
            faults.append(policy.located(("algorithm", "budget"), fault))
        if chosen.refine:
            faults += [policy.located(("algorithm", "refine"), fault) for fault in _not_refined(policy, algorithm)]
        if policy.privacy.person is not None and not _in_classes(policy, algorithm):
            fault = (
                f"persons are counted in releases of one table in classes, and {chosen.name!r} makes another kind; "
                "choose another algorithm, or remove 'person'."
            )
            faults.append(policy.located(("privacy", "person"), fault))
        if policy.pseudonyms and algorithm.tables(policy):
            fault = f"the tables that {chosen.name!r} publishes must not be linked, as a pseudonym would; remove it."
            faults.append(policy.located(("columns", policy.pseudonyms[0], "pseudonym"), fault))
    PolicyError.refuse(faults)
    for name in policy.having_role("sensitive"):
        taxonomy_of(policy, name)  # it must be there and sound, even where nothing asks for it yet
    seed = chosen.seed if chosen.seed is not None else secrets.randbits(62)
    return Plan(policy, algorithm, measure, tuple(models), seed)


def _is_repaired(policy: Policy, algorithm: Algorithm, model: PrivacyModel) -> bool:
    """Whether a model is kept whatever the algorithm: it is given a larger k, or its classes are repaired after it."""
    in_classes = algorithm.anonymity == "classes" and not algorithm.tables(policy)
    return in_classes and isinstance(model, SensitiveModel | SizeModel | PopulationModel | SetModel)


def _who(model: str) -> str:
    """Which algorithms keep a model."""
    able = [name for name, cls in ALGORITHMS.items() if model in cls.keeps or cls.anonymity == "classes"]
    return f"choose one that can, such as {able[0]!r}, or drop the model"


_PROMISES = {
    "classes": "classes of records that are published alike",
    "matchings": "records that fit k published rows each, although no two rows need be alike",
    "buckets": "quasi-identifiers as they are, and apart from them the sensitive values of each bucket of records",
}


def _other_promise(policy: Policy, algorithm: Algorithm) -> list[str]:
    """Refuse an algorithm whose k means something else than the policy says."""
    asked, given = policy.privacy.anonymity, algorithm.anonymity
    if asked == given:
        return []
    able = next(name for name in ("auto", *ALGORITHMS) if ALGORITHMS[name].anonymity == asked)
    return [
        policy.located(
            ("privacy", "anonymity"),
            f"algorithm {algorithm.name!r} publishes {_PROMISES[given]}, and the policy asks for "
            f"anonymity = {asked!r}; set anonymity = {given!r} if that is enough, or choose another, such as {able!r}.",
        )
    ]


def _not_with_sets(policy: Policy, algorithm: Algorithm, models: Sequence[PrivacyModel]) -> list[str]:
    """What cannot be asked for where there are sets."""
    if not policy.sets:
        return []
    merging = [model.name for model in models if isinstance(model, SensitiveModel) and not model.monotone] + [
        model.name for model in models if isinstance(model, PopulationModel)
    ]
    faults = {
        ("privacy", "models"): merging and f"{merging[0]!r} may be broken when classes become one, and is kept",
        ("output", "suppressed"): policy.output.suppressed == "starred" and "suppressed = 'starred' publishes records",
        ("privacy", "missing"): policy.privacy.missing == "wildcard" and "missing = 'wildcard' is kept",
        ("privacy", "person"): policy.privacy.person is not None and "persons are counted",
        ("algorithm", "name"): not _in_classes(policy, algorithm) and f"{algorithm.name!r} publishes a release",
    }
    return [
        policy.located(keys, f"{what} in a way that is not yet there for sets; leave it out, or the column of sets.")
        for keys, what in faults.items()
        if what
    ]


def _in_classes(policy: Policy, algorithm: Algorithm) -> bool:
    """Whether the release is one table of records in classes."""
    return policy.privacy.anonymity == "classes" and not algorithm.tables(policy)


def _not_refined(policy: Policy, algorithm: Algorithm) -> list[str]:
    """Why the result of an algorithm cannot be refined under a policy."""
    if _in_classes(policy, algorithm):
        return []
    return [f"refine is for releases in classes, and {algorithm.name!r} makes another kind; set refine = false."]
