"""Datafly: generalize the column with most different values until few records are left over.

Sweeney: Guaranteeing anonymity when sharing medical data, the Datafly system, AMIA 1997; and
Achieving k-anonymity privacy protection using generalization and suppression, IJUFKS 2002.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Algorithm
from kohort.codes.boxes import Solution
from kohort.codes.levels import frequencies, ladder_of, solution_at
from kohort.search.task import Task


@ALGORITHMS.register("datafly")
@dataclass(frozen=True)
class Datafly(Algorithm):
    """Take the column with most different values one level up, again and again, until enough records are alike.

    It ends when no more than k records, and no more than the policy allows to suppress, lie in
    classes of fewer than k. These are suppressed. Ties go to the first column. No randomness, and
    neither the measure nor the order of the input matters.

    Notes
    -----
    Time O(d m l) for m distinct rows and l levels of all columns together; memory O(d m + n).

    Examples
    --------
    >>> import kohort
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "m", "f", "m", "m", "f"], "age": [33, 34, 38, 65, 66, 67]})
    >>> policy = kohort.Policy.build(k=3, quasi_identifiers=["sex", "age"]).with_changes("algorithm", name="datafly")
    >>> sorted(set(kohort.anonymize(people, policy).table.rows()))
    [('*', '[33 - 38]'), ('*', '[65 - 67]')]
    """

    summary = "the column with most different values goes one level up, until few records are left over"
    paper = "Sweeney, AMIA 1997; IJUFKS 2002"
    recoding = "full-domain"
    guarantee = "k-anonymity; sizes k or more"
    complexity = "O(d m l) for m distinct rows and l levels in all"

    @override
    def solve(self, task: Task) -> Solution:
        from kohort.kernels.frequency import roll_up

        ladders = [ladder_of(axis) for axis in task.codes.axes]
        node, levels = [0] * len(ladders), sum(ladder.top for ladder in ladders)
        table = frequencies(task.codes)
        # One class of k is published whatever may be suppressed: a release of nobody is none.
        allowance = min(task.k, task.allowance, len(task.codes.array) - task.k)
        while table.small(task.k) > allowance:
            # Two classes differ in a column, so the one with most values is not at its top.
            highest = int(np.argmax([len(np.unique(column)) for column in table.rows.T]))
            node[highest] += 1
            maps = [
                ladder.step(level - (j == highest), level)
                for j, (ladder, level) in enumerate(zip(ladders, node, strict=True))
            ]
            table, _ = roll_up(table, maps)
            task.progress(sum(node) / levels)
        return solution_at(task.codes, ladders, tuple(node), task.k)
