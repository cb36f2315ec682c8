"""What is compared: every algorithm with every class size, set of privacy models and seed."""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kohort.algorithms import ALGORITHMS
from kohort.errors import PolicyError
from kohort.policy import Policy

Models = tuple[Mapping[str, Any], ...]
"""Privacy models beside k-anonymity, each as in a policy."""


@dataclass(frozen=True)
class Cell:
    """One run of a comparison."""

    algorithm: str
    """As it was asked for: a name, with parameters if some were given."""
    name: str
    parameters: Mapping[str, Any]
    k: int
    models: Models
    seed: int

    def policy(self, policy: Policy) -> Policy:
        """The policy by which `anonymize` makes the release of this cell."""
        algorithm = ALGORITHMS[self.name]
        changed = policy.with_changes(
            "algorithm", name=self.name, parameters=dict(self.parameters), seed=self.seed, refine=False
        )
        if not algorithm.searches:
            changed = changed.with_changes("algorithm", budget=None)
        return changed.with_changes("privacy", k=self.k, models=self.models, anonymity=algorithm.anonymity)

    @property
    def key(self) -> str:
        """A name that no other cell has."""
        content = json.dumps(asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def cells_of(
    policy: Policy,
    algorithms: Sequence[str | Mapping[str, Any]] | None,
    k: Sequence[int] | None,
    models: Sequence[str | Models] | None,
    seeds: Sequence[int],
) -> list[Cell]:
    """Every combination of what is asked for; what there is none of ends the comparison before it begins."""
    chosen = [asked_for(algorithm) for algorithm in (algorithms if algorithms is not None else list(ALGORITHMS))]
    for _, name, parameters in chosen:
        ALGORITHMS.make(name, parameters)
    promised = [models_for(one, policy) for one in models] if models is not None else [policy.privacy.models]
    sizes = k if k is not None else [policy.privacy.k]
    cells = [
        Cell(algorithm, name, parameters, size, some, seed)
        for (algorithm, name, parameters), size, some, seed in itertools.product(chosen, sizes, promised, seeds)
    ]
    if not cells:
        raise PolicyError(
            "compare: there is nothing to compare; give at least one algorithm, k, set of models and seed."
        )
    for cell in cells[: len(sizes) * len(promised) * len(seeds)]:
        cell.policy(policy)  # a k or a seed that no policy can have
    return cells


def asked_for(algorithm: str | Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """How an algorithm was asked for, its name and its parameters.

    Examples
    --------
    >>> asked_for("gccg-parallel:parts=4")
    ('gccg-parallel:parts=4', 'gccg-parallel', {'parts': 4})
    >>> asked_for({"name": "cb", "assign": "centre"})
    ('cb:assign=centre', 'cb', {'assign': 'centre'})
    """
    if isinstance(algorithm, Mapping):
        parameters = dict(algorithm)
        name = str(parameters.pop("name", ""))
        return spelled(name, parameters), name, parameters
    name, parameters = _parsed(algorithm, "algorithm")
    return algorithm, name, parameters


def models_for(asked: str | Models, policy: Policy) -> Models:
    """The privacy models of one alternative.

    Examples
    --------
    >>> policy = Policy.build(k=5, quasi_identifiers=["age"], sensitive=["ill"])
    >>> models_for("distinct-l-diversity:column=ill:l=3 + average-risk:most=0.1", policy)
    ({'model': 'distinct-l-diversity', 'column': 'ill', 'l': 3}, {'model': 'average-risk', 'most': 0.1})
    >>> models_for("none", policy), models_for("policy", policy)
    ((), ())
    """
    if not isinstance(asked, str):
        return tuple(dict(model) for model in asked)
    if asked.strip() in ("none", "policy"):
        return policy.privacy.models if asked.strip() == "policy" else ()
    found = [_parsed(one.strip(), "privacy model") for one in asked.split(" + ")]
    return tuple({"model": name, **parameters} for name, parameters in found)


def spelled_models(models: Models) -> str:
    """Privacy models in one line, as `--models` takes them; `none` where k-anonymity is all.

    Examples
    --------
    >>> spelled_models(({"model": "t-closeness", "column": "ill", "t": 0.2},))
    't-closeness:column=ill:t=0.2'
    """
    each = (spelled(str(one["model"]), {key: one[key] for key in one if key != "model"}) for one in models)
    return " + ".join(each) or "none"


def spelled(name: str, parameters: Mapping[str, Any]) -> str:
    """A name with its parameters after colons."""
    return ":".join([name, *(f"{key}={value}" for key, value in parameters.items())])


def _parsed(text: str, what: str) -> tuple[str, dict[str, Any]]:
    """Name and parameters."""
    name, *given = text.split(":")
    parameters: dict[str, Any] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key.strip() or key.strip() in parameters:
            raise PolicyError(
                f"{what} {name!r}: {one!r} is no parameter; write NAME:PARAMETER=VALUE, each parameter once."
            )
        parameters[key.strip()] = _value(value.strip())
    return name.strip(), parameters


def _value(text: str) -> Any:
    """A value as in TOML; what is none there is a word."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
