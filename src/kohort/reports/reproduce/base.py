"""What a reproduced paper is: claims, the runs behind each of them, and how they are judged."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from kohort.common.registry import Registry
from kohort.policy import Policy

Outcome = Literal["reproduced", "trend only", "not reproduced", "not reproducible", "erratum", "not measured"]
Size = Literal["quick", "full", "paper"]
"""Fewer values and seeds; all that takes minutes; or the paper's own numbers of records, however long they take."""


@dataclass(frozen=True)
class Run:
    """One algorithm on one sample of a table. A paper with further settings derives from it."""

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


Judge = Callable[[pl.DataFrame], Verdict]
"""Takes the results of the runs of a claim, one row for each; without runs, it works an example out itself."""


@dataclass(frozen=True)
class Axes:
    """What a figure shows: a panel for each table, a line for each algorithm."""

    x: str
    """A setting of the runs, or a column that `shape` makes."""
    y: str
    """One of the figures of the paper."""
    lines: str = "algorithm"
    """The setting that has a line for each value."""
    shape: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    """Turns the results of runs into what is drawn."""
    free: bool = False
    """Whether each panel has a scale of its own."""


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
    timed: bool = False
    """Whether the verdict depends on the machine."""


class Paper(ABC):
    """A paper with experiments."""

    name: ClassVar[str]
    title: ClassVar[str]
    figures: ClassVar[dict[str, str]]
    """What is measured of a run, by name, with its description."""
    data: ClassVar[str] = ""
    """The tables that take the place of the paper's, and what was made smaller."""

    @abstractmethod
    def case(self, run: Run) -> tuple[pl.DataFrame, Policy]:
        """The sample, and the policy without algorithm and k."""

    @abstractmethod
    def measured(self, run: Run, frame: pl.DataFrame, policy: Policy) -> dict[str, float]:
        """The figures of a run."""

    @abstractmethod
    def claims(self, size: Size) -> tuple[Claim, ...]:
        """The claims, with the runs that they need."""

    def unable(self, run: Run) -> str | None:
        """Why a run cannot be made here, such as a library that is not installed."""
        return None


PAPERS: Registry[Paper] = Registry("paper")


def ratios(
    results: pl.DataFrame, figure: str, above: str, below: str, by: str, lines: str = "algorithm"
) -> dict[Any, float]:
    """Mean of a figure of one algorithm over that of another, for each value of a setting."""
    means = results.group_by(by, lines).agg(pl.col(figure).mean())
    of = {(row[by], row[lines]): row[figure] for row in means.iter_rows(named=True)}
    values = sorted(value for value, name in of if name == above and (value, below) in of)
    return {value: of[value, above] / of[value, below] for value in values}


def series(results: pl.DataFrame, figure: str, by: str, lines: str = "algorithm") -> dict[tuple[Any, ...], list[float]]:
    """Means of a figure in the order of a setting, for each table and line."""
    means = results.group_by("table", lines, by, maintain_order=True).agg(pl.col(figure).mean())
    means = means.sort(by, maintain_order=True)
    return {key: some[figure].to_list() for key, some in means.group_by("table", lines, maintain_order=True)}


def steps(found: Mapping[Any, list[float]], sign: int) -> list[bool]:
    """Whether each of several series only grows (sign 1) or only falls (sign -1)."""
    return [all(sign * (after - before) > 0 for before, after in itertools.pairwise(some)) for some in found.values()]


def falls(results: pl.DataFrame, figure: str, by: str, lines: str = "algorithm") -> dict[tuple[Any, ...], int]:
    """How often a figure falls between two values of a setting by more than seeds differ, for each table and line."""
    found = results.group_by("table", lines, by).agg(low=pl.col(figure).min(), high=pl.col(figure).max()).sort(by)
    parts = found.group_by("table", lines, maintain_order=True)
    return {key: int((some["high"] < some["low"].shift()).sum()) for key, some in parts}


def by_share(good: Iterable[bool]) -> Outcome:
    """Reproduced where all of it holds, not where nothing does, and else the trend."""
    held = list(good)
    return "reproduced" if all(held) else "trend only" if any(held) else "not reproduced"


def spelled(values: Mapping[Any, float] | Iterable[float]) -> str:
    """The range of some ratios, in words."""
    found = list(values.values() if isinstance(values, Mapping) else values)
    low, high = f"{min(found):.2f}", f"{max(found):.2f}"
    return f"{low} times" if low == high else f"{low} to {high} times"
