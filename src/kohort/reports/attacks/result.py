"""What came of attacks: how often each succeeds, how often its control does, and what would stop it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from kohort.reports.charts import Chart
from kohort.reports.charts.dumbbell import Dumbbell, Success
from kohort.reports.estimate import Estimate
from kohort.reports.words import percent


@dataclass(frozen=True)
class Mitigation:
    """What kohort has against an attack."""

    advice: str
    """One sentence."""
    policy: str = ""
    """Lines to paste into the policy; empty where no line of it helps."""


@dataclass(frozen=True)
class Attack:
    """One attack on a release.

    Attributes
    ----------
    name : str
        The attack, as `--only` takes it.
    about : str or None
        The sensitive column that it is after, if it is after one.
    private : bool
        Whether more than the release was used: then the figures stay with the steward.
    success : Estimate
        Share of the attempts that succeed.
    control : Estimate
        Share of the same attempts that succeed where the release cannot help; see `against`.
    attempts, of : int
        Attempts, and how many there could be: fewer were made if they are a sample.
    sentence : str
        What was found, for people who know neither statistics nor this tool.
    certain : int
        Attempts by which something is learned for certain: a single one counts, whatever the control says.
    figures : mapping
        Further figures, none of them a value of the table.
    """

    name: str
    about: str | None
    private: bool
    success: Estimate
    control: Estimate
    against: str
    """What the control is."""
    attempts: int
    of: int
    sentence: str
    mitigation: Mitigation
    certain: int = 0
    figures: Mapping[str, Any] = field(default_factory=dict)
    table: str = ""
    """The table of the release, if it has several and this is about one."""

    @property
    def title(self) -> str:
        """Its name, the column that it is after, and the table."""
        return titled(self)

    @cached_property
    def advantage(self) -> Estimate:
        """By how much it succeeds more often than its control."""
        return self.success.minus(self.control)

    @property
    def sampled(self) -> str:
        """How many were tried, if not all, and how sure the share is for that; empty where everything was counted."""
        if self.attempts == self.of:
            return ""
        low, high = percent(self.success.low), percent(self.success.high)
        return f"{self.attempts:,} of {self.of:,} were tried, so that the share lies between {low} and {high}."

    @property
    def succeeds(self) -> bool:
        """Whether something is to be done: more successes than chance explains, or any that is certain."""
        return self.certain > 0 or self.advantage.low > 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "attack": self.name,
            "about": self.about,
            "table": self.table,
            "private": self.private,
            "succeeds": self.succeeds,
            "success": asdict(self.success),
            "control": asdict(self.control),
            "against": self.against,
            "advantage": asdict(self.advantage),
            "attempts": self.attempts,
            "of": self.of,
            "certain": self.certain,
            "figures": dict(self.figures),
            "sentence": self.sentence,
            "mitigation": asdict(self.mitigation),
        }


@dataclass(frozen=True)
class NotRun:
    """An attack that was not run, and why."""

    name: str
    reason: str
    about: str | None = None
    table: str = ""

    @property
    def title(self) -> str:
        """The attack, the column that it is after, and the table."""
        return titled(self)


@dataclass(frozen=True)
class Attacks:
    """Attacks on a release. What only its steward can know is marked as private.

    Attributes
    ----------
    results : tuple of Attack
        Those that were run.
    not_run : tuple of NotRun
        The others, and why.
    seed : int
        Of everything that was drawn.
    """

    results: tuple[Attack, ...]
    not_run: tuple[NotRun, ...]
    seed: int

    def shown(self, private: bool) -> tuple[Attack, ...]:
        """All results, or those that anybody can find who has the release."""
        return tuple(one for one in self.results if private or not one.private)

    @property
    def succeeding(self) -> tuple[Attack, ...]:
        """Those that found something."""
        return tuple(one for one in self.results if one.succeeds)

    def to_dict(self, private: bool) -> dict[str, Any]:
        """Plain data: for the steward, or for everybody."""
        return {
            "version": 1,
            "seed": self.seed,
            "attacks": [one.to_dict() for one in self.shown(private)],
            "not_run": [asdict(one) for one in self.not_run],
        }

    def sentences(self, private: bool) -> list[str]:
        """A sentence about each, the most successful first."""
        return [one.sentence for one in sorted(self.shown(private), key=_by_weight)]

    def charts(self, private: bool) -> list[Chart]:
        """How often each succeeds beside its control; nothing where there is nothing to show."""
        shown = [
            Success(one.title, one.success.value, one.success.low, one.success.high, one.control.value)
            for one in self.shown(private)
        ]
        return [Dumbbell("How often attacks succeed, and how often they would by chance", shown)] if shown else []


def titled(one: Attack | NotRun) -> str:
    """What an attack is called among others."""
    of = f" (table {one.table})" if one.table else ""
    return one.name + ("" if one.about is None else f": {one.about}") + of


def _by_weight(one: Attack) -> tuple[bool, float]:
    return not one.succeeds, -one.success.value
