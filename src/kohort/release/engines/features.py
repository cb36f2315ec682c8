"""The engines, and the features that each does not have: one table, from which requests are refused before any work.

`kohort engines` prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from kohort.algorithms.base import Clusterer
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.privacy import PopulationModel
from kohort.release.plan import Plan

Keys = tuple[str | int, ...]
Asked = list[tuple[Keys, str]]
"""Places in a policy, and what each of them asks for, in words for messages."""


@dataclass(frozen=True)
class Profile:
    """An engine as users see it."""

    name: str
    summary: str
    where: str
    """In messages: `in memory`."""
    how: str
    """What to do to use it."""
    lacks: Mapping[str, str]
    """Names of the features that it does not have, each with the reason; empty where there is none to give."""
    folder: bool = False
    """Whether a release is a folder of files."""


@dataclass(frozen=True)
class Feature:
    """Something that can be asked for, by the policy or by an option."""

    name: str
    summary: str
    asked: Callable[[Plan], Asked] = lambda plan: []
    """Where a policy asks for it; nowhere, if an option does."""
    noun: str = ""
    """What messages call it, if an option asks for it."""


def _where(keys: Keys, what: str, holds: Callable[[Policy], object]) -> Callable[[Plan], Asked]:
    """Asked for in one place of the policy, if something holds for it."""
    return lambda plan: [(keys, what)] if holds(plan.policy) else []


def _whole(plan: Plan) -> Asked:
    algorithm = plan.algorithm
    in_partitions = (isinstance(algorithm, Clusterer) or algorithm.searches) and not algorithm.tables(plan.policy)
    return [] if in_partitions else [(("algorithm", "name"), f"algorithm {algorithm.name!r}")]


def _population(plan: Plan) -> Asked:
    models = [(place, model) for place, model in plan.others if isinstance(model, PopulationModel)]
    return [(place, f"privacy model {model.name!r}") for place, model in models]


def _sets(plan: Plan) -> Asked:
    return [(("columns", name, "type"), "type = 'set'") for name in plan.policy.sets]


_ANONYMITY = _where(("privacy", "anonymity"), "this anonymity", lambda policy: policy.privacy.anonymity != "classes")
_PERSON = _where(("privacy", "person"), "person", lambda policy: policy.privacy.person is not None)
_WILDCARD = _where(("privacy", "missing"), "missing = 'wildcard'", lambda policy: policy.privacy.missing == "wildcard")
_PSEUDONYMS = _where(("output", "pseudonym_key"), "pseudonyms", lambda policy: policy.pseudonyms)
_ORDER = _where(("output", "order"), "order = 'kept'", lambda policy: policy.output.order == "kept")
_BOUNDS = _where(("output", "bounds"), "bounds", lambda policy: policy.output.bounds)
_FORMULAS = _where(
    ("output", "formulas"), "formulas = 'neutralised'", lambda policy: policy.output.formulas == "neutralised"
)
_PREAMBLE = _where(("input", "skip_rows"), "skip_rows", lambda policy: policy.input.skip_rows)
_BUDGET = _where(("algorithm", "budget"), "a budget", lambda policy: policy.algorithm.budget is not None)
FEATURES = {
    feature.name: feature
    for feature in (
        Feature("whole-table", "algorithms that need the whole table at once", _whole),
        Feature("anonymity", "anonymity = 'matchings' and 'buckets'", _ANONYMITY),
        Feature("person", "k persons in every class", _PERSON),
        Feature("population", "privacy models about a population", _population),
        Feature("wildcard", "missing = 'wildcard'", _WILDCARD),
        Feature("pseudonyms", "keyed pseudonyms", _PSEUDONYMS),
        Feature("order", "order = 'kept'", _ORDER),
        Feature("bounds", "typed bounds beside intervals", _BOUNDS),
        Feature("formulas", "formulas = 'neutralised'", _FORMULAS),
        Feature("budget", "a budget of time", _BUDGET),
        Feature("preamble", "skip_rows", _PREAMBLE),
        Feature("sets", "columns of sets", _sets),
        Feature(
            "kind", "files of other kinds than CSV and Parquet", noun="a file of another kind than CSV and Parquet"
        ),
        Feature("ledger", "a ledger of releases (--ledger)", noun="a ledger"),
        Feature("frame", "polars, pandas and pyarrow tables", noun="a table or release in a data frame"),
        Feature("memory", "a memory limit (--memory)", noun="a memory limit"),
        Feature("partitions", "a number of partitions (--partitions)", noun="a number of partitions"),
        Feature("resume", "resuming a run (--resume)", noun="resuming"),
        Feature("row-order", "the order of rows in a file (--row-order)", noun="a file with the order of rows"),
        Feature("master", "a Spark master (--master)", noun="a Spark master"),
    )
}
"""By name."""
_WHOLE = {
    "whole-table": "it needs the whole table at once",
    "anonymity": "it is kept over the whole table only",
    "person": "persons are counted over the whole table",
    "population": "it is kept over the whole table only",
}
_IN_PARTITIONS = {
    **_WHOLE,
    "sets": "their items are counted over the whole table",
    "ledger": "it records releases that are made in memory",
    "frame": "tables and releases are files",
    "row-order": "rows are brought into their order in pieces",
}
MEMORY = Profile(
    "memory",
    "all at once, or a large table in partitions; the default",
    "in memory",
    "run in memory",
    dict.fromkeys(("memory", "resume", "master"), ""),
)
DISK = Profile(
    "disk",
    "in partitions on this machine's disk, with --memory",
    "on disk",
    "run on disk (with a memory limit)",
    _IN_PARTITIONS | {"master": ""},
)
SPARK = Profile(
    "spark",
    "in partitions on a cluster, with --engine spark",
    "on Spark",
    "run on Spark",
    {
        **_IN_PARTITIONS,
        "wildcard": "it is not verified there",
        "pseudonyms": "they are not verified there",
        "order": "rows have no order there",
        "bounds": "they are not verified there",
        "formulas": "",
        "preamble": "it has no reader that skips lines",
        "kind": "its workers read these two",
        "budget": "a task may run again, and must then do the same",
        "memory": "",
    },
    folder=True,
)
CUT = Profile(
    "partitions",
    "in partitions in memory, where that is faster or asked for",
    "in memory in partitions",
    "leave the number of partitions out",
    _WHOLE | {"budget": "it is the time of one search"},
)
"""A table in memory that has several partitions: what it lacks is worked on at once."""
ENGINES = {engine.name: engine for engine in (MEMORY, DISK, SPARK)}
"""By name."""


def refuse(engine: Profile, plan: Plan | None = None, options: Collection[str] = ()) -> None:
    """Refuse what an engine does not have, before any work.

    Parameters
    ----------
    plan : Plan, optional
        Of the policy; all that it asks for is looked at.
    options : collection of str
        Names of the features that the request asks for beside the policy.
    """
    lacking = [FEATURES[name] for name in FEATURES if name in engine.lacks]
    DataError.refuse(f"{one.name}: {_refusal(engine, one.name, one.noun)}" for one in lacking if one.name in options)
    if plan is None:
        return
    PolicyError.refuse(
        plan.policy.located(place, _refusal(engine, feature, what)) for feature, place, what in asked(engine, plan)
    )


def refuse_partitions(partitions: int | None, plan: Plan | None = None) -> None:
    """Refuse a number of partitions that is none; and several in memory, with a plan that cannot be cut there."""
    if partitions is not None and (isinstance(partitions, bool) or not isinstance(partitions, int) or partitions < 1):
        raise DataError("partitions: give a whole number, 1 or more.")
    if partitions is not None and partitions > 1 and plan is not None:
        refuse(CUT, plan)


def asked(engine: Profile, plan: Plan) -> list[tuple[str, Keys, str]]:
    """What a policy asks for and an engine does not have: the feature, its place in the policy, and words for it."""
    lacking = [FEATURES[name] for name in FEATURES if name in engine.lacks]
    return [(feature.name, place, what) for feature in lacking for place, what in feature.asked(plan)]


def _refusal(engine: Profile, feature: str, what: str) -> str:
    """That an engine does not have a feature, and which do."""
    reason = f", as {engine.lacks[feature]}" if engine.lacks[feature] else ""
    able = " or ".join(other.how for other in ENGINES.values() if feature not in other.lacks)
    able = engine.how if engine is CUT else able
    instead = "choose another algorithm, such as 'auto'" if feature == "whole-table" else "leave it out"
    return f"{what} cannot be used {engine.where}{reason}; {able}, or {instead}."
