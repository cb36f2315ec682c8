"""The default: a fast start, and local search for as long as it pays."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Algorithm
from kohort.codes.boxes import Solution
from kohort.search.task import Task


@ALGORITHMS.register("auto")
@dataclass(frozen=True)
class Auto(Algorithm):
    """Take the best cut of a good order, then refine it by local search.

    How long the search takes depends on the size of the table: some seconds for tables of up to a
    few hundred thousand records, then in proportion to their number. `budget` of the policy gives
    it a time instead. The facts of the release say what was done.

    Notes
    -----
    Time O(n log n + n k d) for the start and O(n d) for each step of the search per record.
    """

    summary = "a fast start, then local search for a time that suits the table"
    paper = "kohort"
    guarantee = "k-anonymity; sizes k..2k-1"
    complexity = "O(n log n + n k d), then O(n d) per step"
    searches = True

    @override
    def solve(self, task: Task) -> Solution:
        from kohort.search.effort import solved

        return solved(task, 1.0)
