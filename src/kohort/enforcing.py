"""Keep what a policy promises about sensitive values, whatever algorithm made the classes: the common repair stage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kohort.algorithms.base import Task
from kohort.encode import Codes
from kohort.errors import InfeasibleError
from kohort.privacy import Promise
from kohort.search.merge import merged
from kohort.search.refine import Effort, Search
from kohort.solution import Solution, classes_of_boxes

HEALING = 20.0
"""Length of the search that heals classes that no merging heals; see `Effort.work`."""


def enforced(task: Task, solution: Solution) -> Solution:
    """The solution with every promise kept: classes that break one are merged with others at the least loss.

    Promises that merging cannot keep (those of models that are not monotone) are first repaired by exchanges between
    neighbouring classes.

    Raises
    ------
    InfeasibleError
        When a promise is still broken in the end.
    """
    if not task.promises:
        return solution
    kept = np.ones(len(task.codes.array), bool) if solution.kept is None else solution.kept
    codes = Codes(task.codes.array[kept], task.codes.axes)
    promises = [promise.among(kept) for promise in task.promises]
    labels = classes_of_boxes(codes.axes, solution.boxes.of(kept)).astype(np.int32)
    before = broken_classes(labels, promises)
    if not before.any():
        return solution
    if any(not promise.model.monotone and not promise.kept(labels).all() for promise in promises):
        search = Search(codes, task.costs, task.k, task.rng, promises=promises)
        labels = search.refined(labels, Effort(HEALING), lambda share, cost: None)
    labels = mended(codes, task, promises, labels)
    everyone = np.full(len(kept), -1, np.int32)
    everyone[kept] = labels
    told = {"repaired": f"{int(before.sum()):,} of {len(before):,} classes, by merging them with others"}
    return Solution.of_labels(task.codes, everyone, {**solution.facts, **told})


def mended(codes: Codes, task: Task, promises: Sequence[Promise], labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Merge classes that break a promise with others until none is broken."""
    while True:
        # Two clusters with one box are one class to whoever reads the release.
        boxes = Solution.of_labels(codes, labels).boxes
        labels = classes_of_boxes(codes.axes, boxes).astype(np.int32)
        broken = broken_classes(labels, promises)
        if not broken.any():
            return labels
        if len(broken) == 1:
            break
        labels = merged(codes.array, task.costs, labels, broken, promises, task.rng)
    names = ", ".join(
        promise.model.name for promise in promises if not promise.kept(np.zeros(len(labels), np.int64)).all()
    )
    raise InfeasibleError(
        f"no release was found that keeps {names}: even one class of all records does not, and exchanges between "
        "smaller ones did not help; choose weaker parameters."
    )


def broken_classes(labels: NDArray[np.integer], promises: Sequence[Promise]) -> NDArray[np.bool_]:
    """Which classes, numbered 0, 1, 2, ..., break a promise."""
    broken = np.zeros(int(labels.max()) + 1, bool)
    for promise in promises:
        broken |= ~promise.kept(labels)
    return broken
