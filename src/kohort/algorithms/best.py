"""Patience: a long search, several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Algorithm
from kohort.codes.boxes import Solution
from kohort.policy.parameters import Limits
from kohort.search.task import Task


@ALGORITHMS.register("best")
@dataclass(frozen=True)
class Best(Algorithm):
    """Search long, with several seeds, and keep the best.

    Notes
    -----
    Two short searches come first. The first one starts from the best cut of a good order, every other from what is
    the best so far; all start hot, so hardly anything of the start is left. The search ends early if one of them ends
    with the very loss that it started from.
    """

    seeds: int = 1
    """Long searches, each with randomness of its own; two short ones come before them."""
    patience: Annotated[float, Limits(above=0, below=1_000_000)] = 20.0
    """How many times longer than `auto` each of them takes."""

    summary = "auto with patience: a long search, several times"
    paper = "kohort"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(n log n + n k d), then O(n d) per step"
    searches = True

    @override
    def solve(self, task: Task) -> Solution:
        from kohort.search.effort import solved

        # Two short searches first: if they agree, the table is a small one, and there is nothing more to find.
        return solved(task, 1.0, 1.0, *[self.patience] * self.seeds)
