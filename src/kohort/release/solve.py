"""From a task to a solution, for every engine and every report: solve, repair, refine, count persons."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from kohort.codes.boxes import Solution
from kohort.errors import InfeasibleError
from kohort.policy import Policy
from kohort.release.plan import Plan
from kohort.release.prepare import refuse_suppressing
from kohort.search.persons import Work
from kohort.search.repair import refined_and_repaired, repaired, repaired_beside_stars, with_fewer_stars

Step = Callable[[str], AbstractContextManager[None]]
"""Watches what is done under a name: a step of a clock."""


def solved(plan: Plan, work: Work, records: int | None, step: Step = lambda name: nullcontext()) -> Solution:
    """What the plan's algorithm makes of the records, with every promise kept.

    Parameters
    ----------
    records : int or None
        All records of the table; None in one of several partitions, where only all of them together show whether too
        many records are suppressed.

    Raises
    ------
    InfeasibleError
        When a promise cannot be kept, or too many records would be suppressed.
    """
    with step("cluster"):
        solution = repaired(work.task, plan.algorithm.solve(work.task))
        if records is not None:
            found = work.of_records(solution)
            refuse_solution(found.suppressed, len(found.boxes.lo), records, plan.policy)
    if plan.policy.algorithm.refine:
        with step("refine"):
            solution = refined_and_repaired(work.task, solution)
    if work.persons is not None:
        with step("persons"):
            solution = repaired(work.promised, work.finished(solution))
    if records is not None and _shows_suppressed(plan.policy):
        solution = repaired_beside_stars(work.counted, with_fewer_stars(work.counted, solution))
    return solution


def _shows_suppressed(policy: Policy) -> bool:
    """Whether a class that is generalized to the top counts as suppressed, and classes can be formed anew."""
    classes = policy.privacy.anonymity == "classes" and policy.privacy.missing != "wildcard"
    return classes and policy.output.suppressed == "starred"


def refuse_solution(suppressed: int, usable: int, records: int, policy: Policy) -> None:
    """Refuse to suppress more of the usable records than the policy allows, or all of them."""
    if suppressed == usable:
        raise InfeasibleError("every record would be suppressed; choose a smaller k or another algorithm.")
    if suppressed:
        refuse_suppressing(records - usable + suppressed, records, policy, "fall in classes smaller than k")


def refuse_stars(stars: int, records: int, policy: Policy) -> None:
    """A class that was generalized to the top looks suppressed, so it counts as such if those are shown."""
    if policy.output.suppressed == "starred":
        refuse_suppressing(stars, records, policy, "would be * in every quasi-identifier")
