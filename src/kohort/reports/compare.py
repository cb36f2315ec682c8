"""Several algorithms on one table, side by side."""

from __future__ import annotations

import secrets
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kohort.algorithms import ALGORITHMS
from kohort.codes.encode import Codes
from kohort.common.html import html_block, html_table
from kohort.errors import KohortError, PolicyError
from kohort.measures.loss import loss_of_solution
from kohort.measures.sse import within_share
from kohort.policy import Policy
from kohort.release.engines.frame import FrameScan, loaded, solution_of, usable_of
from kohort.release.engines.survey import Usable
from kohort.release.plan import plan_of
from kohort.table import read_table


@dataclass(frozen=True)
class Outcome:
    """What one algorithm did with one k."""

    algorithm: str
    """As it was asked for: a name, with parameters if some were given."""
    k: int
    anonymity: str
    """What k means in its release."""
    loss: float | None
    """Information loss by the policy's measure; None if the algorithm refused."""
    classes: int | None
    """Number of published classes."""
    smallest: int | None
    largest: int | None
    suppressed: int | None
    seconds: float
    """Time of the clustering; the first run of an algorithm may compile it."""
    sse: float | None = None
    """Share of the variance that lies within classes (SSE / SST), where all quasi-identifiers are numbers or dates."""
    clusters: int | None = None
    """Number of clusters that the algorithm formed; those that are published alike are one class."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the algorithm reports about its result."""
    refused: str = ""
    """Why the algorithm refused, in one sentence."""


class Outcomes(list[Outcome]):
    """What several algorithms did: a list, and a table of it."""

    def to_frame(self) -> pl.DataFrame:
        """The outcomes as a polars frame, one row for each; without their facts.

        Examples
        --------
        >>> Outcomes().to_frame().columns[:3]
        ['algorithm', 'k', 'anonymity']
        """
        names = [each.name for each in fields(Outcome) if each.name != "facts"]
        kinds = {name: _TYPES.get(name, pl.Int64) for name in names}
        return pl.DataFrame([[getattr(one, name) for name in names] for one in self], kinds, orient="row")

    def _repr_html_(self) -> str:
        """For notebooks."""
        frame = self.to_frame()
        return html_block("Outcomes", html_table(frame.columns, frame.rows()))


_TYPES: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("algorithm", "anonymity", "refused"), pl.String),
    **dict.fromkeys(("loss", "seconds", "sse"), pl.Float64),
}


def compare(
    table: Any,
    policy: Policy | str | Path,
    *,
    algorithms: Sequence[str | Mapping[str, Any]] | None = None,
    k: Sequence[int] | None = None,
    progress: Callable[[Outcome], None] | None = None,
) -> Outcomes:
    """Run several algorithms on one table; nothing is published.

    Parameters
    ----------
    table
        Path of a CSV or Parquet file, a folder of such files or a pattern, or a polars, pandas or pyarrow table.
    policy : Policy or path
        Roles, hierarchies, weights, measure and seed; every algorithm starts from the same seed.
    algorithms : sequence of str or mapping, optional
        Algorithms, all of them when absent: names, with parameters after colons (``"gccg-parallel:parts=4"``), or
        mappings as in `Policy.build` (``{"name": "gccg-parallel", "parts": 4}``). What is not given has its default.
    k : sequence of int, optional
        Class sizes; the policy's when absent.
    progress : callable, optional
        Called with each outcome as soon as it is there.

    Returns
    -------
    Outcomes
        A list of one `Outcome` for every algorithm and k; `to_frame` gives it as a table.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], seed=1)
    >>> ages = pl.DataFrame({"age": [30, 31, 60, 64, 65]})
    >>> [outcome] = kohort.compare(ages, policy, algorithms=["k-member"])
    >>> outcome.classes, round(outcome.loss, 4)
    (2, 0.0971)
    """
    policy = Policy.of(policy)
    source = read_table(table, policy.input, policy.columns)
    usable = usable_of(source, policy)
    seed = policy.algorithm.seed if policy.algorithm.seed is not None else secrets.randbits(62)
    chosen = [asked_for(algorithm) for algorithm in (algorithms if algorithms is not None else list(ALGORITHMS))]
    for _, name, parameters in chosen:
        ALGORITHMS.make(name, parameters)  # what is not there ends the comparison before it begins
    outcomes = Outcomes()
    for spelled, name, parameters in chosen:
        for size in k if k is not None else [policy.privacy.k]:
            changed = policy.with_changes("algorithm", name=name, parameters=parameters, seed=seed, refine=False)
            if not ALGORITHMS[name].searches:
                changed = changed.with_changes("algorithm", budget=None)
            changed = changed.with_changes("privacy", k=size, anonymity=ALGORITHMS[name].anonymity)
            outcome = _outcome(spelled, changed, usable)
            outcomes.append(outcome)
            if progress:
                progress(outcome)
    return outcomes


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
        return ":".join([name, *(f"{key}={value}" for key, value in parameters.items())]), name, parameters
    name, *given = algorithm.split(":")
    parameters = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key.strip() or key.strip() in parameters:
            raise PolicyError(
                f"algorithm {name!r}: {one!r} is no parameter; write NAME:PARAMETER=VALUE, each parameter once."
            )
        parameters[key.strip()] = _value(value.strip())
    return algorithm, name.strip(), parameters


def _value(text: str) -> Any:
    """A value as in TOML; what is none there is a word."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _outcome(name: str, policy: Policy, usable: Usable[FrameScan]) -> Outcome:
    """Run the policy's algorithm, or say why it refuses."""
    size, anonymity = policy.privacy.k, policy.privacy.anonymity
    start = time.perf_counter()
    try:
        plan = plan_of(policy)
        table = loaded(plan, usable)
        start = time.perf_counter()
        solution = solution_of(table, usable.records)
    except KohortError as error:
        seconds = time.perf_counter() - start
        return Outcome(name, size, anonymity, None, None, None, None, None, seconds, refused=error.faults[0])
    seconds = time.perf_counter() - start
    # Two clusters that are published alike are one class.
    classes = solution.classes(usable.axes)
    sizes = np.bincount(classes)
    kept = table.codes if solution.kept is None else Codes(table.codes.array[solution.kept], table.codes.axes)
    return Outcome(
        algorithm=name,
        k=size,
        anonymity=anonymity,
        loss=loss_of_solution(plan.measure, table.codes, solution, usable.without).total,
        classes=len(sizes),
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        suppressed=usable.without + solution.suppressed,
        seconds=seconds,
        sse=within_share(kept, classes) if anonymity == "classes" else None,
        clusters=solution.clusters,
        facts=dict(solution.facts),
    )
