"""The chart of a comparison."""

from __future__ import annotations

from kohort.reports.charts.frontier import Frontier, Result, Standing
from kohort.reports.compare.outcomes import Outcomes

USEFUL = 2.0
"""A bound is drawn if the best result loses less than this many times as much."""


def frontier_chart(outcomes: Outcomes) -> Frontier:
    """Risk against loss of all results in classes, with the bounds that say something."""
    best = outcomes.recommended
    results = []
    for one in outcomes:
        if one.loss is not None and one.highest_risk is not None:
            marked = one.number in outcomes.frontier
            standing: Standing = "beaten by none" if marked else "beaten by another"
            if best is not None and one.number == best.number:
                standing = "recommended"
            results.append(Result(f"{one.number}: {one.name}", one.highest_risk, one.loss, standing, marked))
    bounds = []
    for k, bound in outcomes.bounds.items():
        least = min((one.loss for one in results if one.risk <= 1 / k), default=None)
        if bound and least is not None and least <= USEFUL * bound:
            bounds.append(Result("lower bound", 1 / k, bound))
    return Frontier("Risk against information loss", results, bounds)
