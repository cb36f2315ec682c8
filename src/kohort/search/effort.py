"""Refine what an algorithm found: the search of `kohort.search`, as a step of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohort.codes.boxes import Solution, classes_of_boxes
from kohort.codes.encode import Codes
from kohort.privacy import Promise
from kohort.search.refine import Effort, Search
from kohort.search.task import Task

STOPPED = "stopped before its end"
"""What a search says of itself that was ended by Ctrl-C."""
WORK = 1300.0
"""Steps for each record, times k, in a table of moderate size; fewer if there are few columns or k is large."""
LEAST_WORK = 60.0
"""The same in a very large table."""
AGAIN = 0.25
"""Length of the search after outliers have been withheld, as a share of the one before."""
SIDES = 3.2e8
"""Between the two: sides of boxes that are looked at, in multiples of k, whatever the size of the table."""


def efforts_of(task: Task, *patience: float) -> list[Effort]:
    """How long to search: a time that is constant for tables of moderate size, then linear.

    Parameters
    ----------
    patience : float
        For each search, how many times longer than that. They share the policy's budget, if it has one.
    """
    n, d = task.codes.array.shape
    work = steps_of(max(n, task.records), d, task.k)
    whole = sum(patience)
    return [Effort(work * one, None if task.seconds is None else task.seconds * one / whole) for one in patience]


def steps_of(records: int, columns: int, k: int) -> float:
    """Steps of the search for each record, times k."""
    work = min(WORK, max(LEAST_WORK, SIDES / (records * columns)))
    # Few columns leave less to search for, and a step that deals large classes anew takes longer.
    return float(work * min(1.0, columns / 8) ** 1.3 / (1 + k / 120))


def refined(
    task: Task, search: Search, labels: NDArray[np.int32], efforts: Sequence[Effort]
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """Refine labels by one search after the other; and the facts about it.

    The rest is left out when a search ends with the loss it started from, or is stopped.
    """
    unit = float(task.costs.full.sum())
    whole = sum(effort.length for effort in efforts)
    before = 0.0
    done = []
    for effort in efforts:

        def report(share: float, cost: float, before: float = before, length: float = effort.length) -> None:
            task.progress((before + share * length) / whole)
            task.note(f"loss {cost / unit:.4f}")

        labels = search.refined(labels, effort, report)
        before += effort.length
        done.append(effort.in_words(task.k))
        if search.stopped or search.settled:
            break
    task.progress(1.0)
    ended = f", {STOPPED}" if search.stopped else ""
    return labels, {"local search": ", then ".join(done) + ended}


def solved(task: Task, *patience: float) -> Solution:
    """The best cut of a good order, refined by one or more searches; outliers suppressed where that pays."""
    # The search is gone, and its memory free, before the boxes are made.
    labels, facts = _searched(task, efforts_of(task, *patience))
    return Solution.of_labels(task.codes, labels, {"start": "sorted records, cut into classes", **facts})


def _searched(task: Task, efforts: Sequence[Effort]) -> tuple[NDArray[np.int32], dict[str, Any]]:
    search = _search(task, task.codes, task.promises, efforts)
    labels, facts = refined(task, search, search.start, efforts)
    if task.allowance > 0 and not search.stopped and not task.promises:
        labels = _without_outliers(task, search, labels, efforts[0])
    return labels, facts


def _search(task: Task, codes: Codes, promises: Sequence[Promise], efforts: Sequence[Effort]) -> Search:
    quick = all(effort.is_short for effort in efforts)
    return Search(codes, task.costs, task.k, task.rng, task.threads, promises, quick)


def _without_outliers(task: Task, search: Search, labels: NDArray[np.int32], effort: Effort) -> NDArray[np.int32]:
    """Suppress outliers and refine what is left, until it does not pay any more or no more may be suppressed."""
    kept = np.arange(len(labels))
    seconds = None if effort.seconds is None else effort.seconds * AGAIN
    again = Effort(effort.work * AGAIN, seconds)
    while not search.stopped:
        labels = search.without_outliers(labels, task.allowance - (len(task.codes.array) - len(kept)))
        stay = labels >= 0
        if stay.all():
            break
        kept, labels = kept[stay], labels[stay]
        search = _search(task, Codes(task.codes.array[kept], task.codes.axes), (), [again])
        labels = search.refined(labels, again, lambda share, cost: None)
    everyone = np.full(len(task.codes.array), -1, np.int32)
    everyone[kept] = labels
    return everyone


def refined_solution(task: Task, solution: Solution) -> Solution:
    """The solution of any algorithm that publishes classes, refined; never one that loses more."""
    kept = np.ones(len(task.codes.array), bool) if solution.kept is None else solution.kept
    codes = task.codes if solution.kept is None else Codes(task.codes.array[kept], task.codes.axes)
    labels = classes_of_boxes(codes.axes, solution.boxes.of(kept)).astype(np.int32)
    promises = [promise.among(kept) for promise in task.promises]
    efforts = efforts_of(task, 1.0)
    search = _search(task, codes, promises, efforts)
    better, facts = refined(task, search, labels, efforts)
    everyone = np.full(len(kept), -1, np.int32)
    everyone[kept] = better
    return Solution.of_labels(task.codes, everyone, {**solution.facts, **facts})
