"""What a reproduced paper is: claims, the runs behind each of them, and how they are judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from kohort.common.registry import Registry
from kohort.policy import Policy

Outcome = Literal["reproduced", "trend only", "not reproduced", "not reproducible", "erratum"]


@dataclass(frozen=True)
class Run:
    """One algorithm on one sample of a table."""

    table: str
    records: int
    algorithm: str
    """As `kohort compare` takes it: a name, with parameters after colons."""
    k: int
    seed: int
    """Of the sample, and of the algorithm."""

    @property
    def settings(self) -> dict[str, Any]:
        """Its fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class Verdict:
    """What became of a claim."""

    outcome: Outcome
    why: str


@dataclass(frozen=True)
class Axes:
    """What a figure shows: one figure of the runs over one of their settings, a line for each algorithm."""

    x: Literal["k", "records"]
    y: str


Judge = Callable[[pl.DataFrame], Verdict]
"""Takes the results of the runs of a claim, one row for each."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that can be checked."""

    name: str
    where: str
    """Figure, table or section."""
    says: str
    judge: Judge
    runs: tuple[Run, ...] = ()
    axes: Axes | None = None


class Paper(ABC):
    """A paper with experiments."""

    name: ClassVar[str]
    title: ClassVar[str]
    figures: ClassVar[dict[str, str]]
    """What is measured of a run, by name, with its description."""

    @abstractmethod
    def case(self, run: Run) -> tuple[pl.DataFrame, Policy]:
        """The sample, and the policy without algorithm and k."""

    @abstractmethod
    def measured(self, run: Run, frame: pl.DataFrame, policy: Policy) -> dict[str, float]:
        """The figures of a run."""

    @abstractmethod
    def claims(self, *, quick: bool) -> tuple[Claim, ...]:
        """The claims; with `quick` on fewer runs."""


PAPERS: Registry[Paper] = Registry("paper")


def known(outcome: Outcome, why: str) -> Judge:
    """A verdict that needs no run."""
    return lambda results: Verdict(outcome, why)


def ratios(results: pl.DataFrame, figure: str, above: str, below: str, by: str) -> dict[int, float]:
    """Mean of a figure of one algorithm over that of another, for each value of a setting."""
    means = results.group_by(by, "algorithm").agg(pl.col(figure).mean())
    of = {(row[by], row["algorithm"]): row[figure] for row in means.iter_rows(named=True)}
    return {value: of[value, above] / of[value, below] for value in sorted(results[by].unique())}


def spelled(values: Mapping[Any, float]) -> str:
    """The range of some ratios, in words."""
    low, high = min(values.values()), max(values.values())
    return f"{low:.2f} times" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f} times"
