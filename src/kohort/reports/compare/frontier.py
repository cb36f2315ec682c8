"""Which outcomes no other one beats, and which of them is recommended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kohort.reports.compare.outcomes import Outcome


@dataclass(frozen=True)
class Recommendation:
    """An outcome that is recommended."""

    number: int
    reason: str
    """In a sentence."""


@dataclass(frozen=True)
class _Point:
    """Risk and loss of an outcome; less is better in both."""

    outcome: Outcome
    risk: float
    loss: float

    @property
    def balance(self) -> float:
        """Safety times kept detail."""
        return (1 - self.risk) * (1 - self.loss)


def frontier_of(outcomes: Sequence[Outcome]) -> list[int]:
    """Numbers of the outcomes that no other one beats, the riskiest first."""
    return [point.outcome.number for point in _frontier(outcomes)]


def _frontier(outcomes: Sequence[Outcome]) -> list[_Point]:
    """From the safest on, each outcome that loses less than all safer ones; the riskiest first.

    Of outcomes with equal risk and loss, the one of the lower mean risk is taken, then the first.
    """
    points = [
        _Point(one, one.highest_risk, one.loss)
        for one in outcomes
        if one.loss is not None and one.highest_risk is not None
    ]
    points.sort(key=lambda point: (point.risk, point.loss, point.outcome.mean_risk or 0.0, point.outcome.number))
    best: list[_Point] = []
    for point in points:
        if not best or point.loss < best[-1].loss:
            best.append(point)
    return best[::-1]


def recommended(outcomes: Sequence[Outcome]) -> Recommendation | None:
    """The outcome of the best balance: the one whose safety times kept detail is highest.

    Safety is 1 - risk, and kept detail 1 - loss; both are 0 in the worst case. To maximize their product is Nash's
    solution of a bargain between two sides: it does not depend on units, nor on results that would not be chosen
    anyway, such as one of very high loss that lies far out on the frontier.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Those that keep what the policy promises.

    References
    ----------
    J. Nash: The Bargaining Problem. Econometrica 18(2), 1950.
    """
    ranked = sorted(_frontier(outcomes), key=lambda point: -point.balance)
    if not ranked or not ranked[0].balance:
        return None
    best, *others = ranked
    follows = f"; no. {others[0].outcome.number} follows with {others[0].balance:.3f}" if others else ""
    return Recommendation(
        best.outcome.number,
        f"{best.outcome.name} has the best balance of the results that keep what the policy promises: "
        f"{1 - best.risk:.1%} safety times {1 - best.loss:.1%} of the detail is {best.balance:.3f}{follows}.",
    )
