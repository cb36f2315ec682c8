"""Keep what a policy promises about sensitive values and populations, whatever made the classes: the repair stage."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kohort.algorithms.base import Task
from kohort.encode import Codes
from kohort.errors import InfeasibleError
from kohort.population import Coverage
from kohort.privacy import Promise
from kohort.search.merge import merged
from kohort.search.refine import Effort, Search
from kohort.solution import Boxes, Solution, classes_of_boxes

HEALING = 20.0
"""Length of the search that heals classes that no merging heals; see `Effort.work`."""

ONE_BY_ONE = 5
"""How often classes are merged with one other class each, before it becomes twice as many again and again."""


def enforced(task: Task, solution: Solution) -> Solution:
    """The solution with every promise kept: classes that break one are merged with others at the least loss.

    Promises that merging cannot keep (those of models that are not monotone) are first repaired by exchanges between
    neighbouring classes.

    Raises
    ------
    InfeasibleError
        When a promise is still broken in the end.
    """
    if not task.promises and not task.coverages:
        return solution
    kept = np.ones(len(task.codes.array), bool) if solution.kept is None else solution.kept
    codes = Codes(task.codes.array[kept], task.codes.axes)
    promises = [promise.among(kept) for promise in task.promises]
    boxes = solution.boxes.of(kept)
    labels = classes_of_boxes(codes.axes, boxes).astype(np.int32)
    before = broken_classes(labels, promises) | uncovered_classes(labels, boxes, task.coverages)
    if not before.any():
        return solution
    if any(not promise.model.monotone and not promise.kept(labels).all() for promise in promises):
        search = Search(codes, task.costs, task.k, task.rng, task.threads, promises, quick=True)
        labels = search.refined(labels, Effort(HEALING), lambda share, cost: None)
    labels = mended(codes, task, promises, labels)
    everyone = np.full(len(kept), -1, np.int32)
    everyone[kept] = labels
    told = {"repaired": f"{int(before.sum()):,} of {len(before):,} classes, by merging them with others"}
    return Solution.of_labels(task.codes, everyone, {**solution.facts, **told})


def mended(codes: Codes, task: Task, promises: Sequence[Promise], labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Merge classes that break a promise with others until none is broken."""
    for attempt in itertools.count():
        # Two clusters with one box are one class to whoever reads the release.
        boxes = Solution.of_labels(codes, labels).boxes
        labels = classes_of_boxes(codes.axes, boxes).astype(np.int32)
        broken = broken_classes(labels, promises) | uncovered_classes(labels, boxes, task.coverages)
        if not broken.any():
            return labels
        if len(broken) == 1:
            break
        # A large class may need very many others: then they are not taken one by one.
        more = (1 << max(0, attempt - ONE_BY_ONE)) // 2
        labels = merged(codes.array, task.costs, labels, broken, promises, task.rng, more)
    names = [promise.model.name for promise in promises if not promise.kept(labels).all()]
    names += [coverage.model.name for coverage in task.coverages if uncovered_classes(labels, boxes, [coverage]).any()]
    raise InfeasibleError(
        f"no release was found that keeps {', '.join(names)}: even one class of all records does not, and no smaller "
        "ones that do were found; choose weaker parameters."
    )


def broken_classes(labels: NDArray[np.integer], promises: Sequence[Promise]) -> NDArray[np.bool_]:
    """Which classes, numbered 0, 1, 2, ..., break a promise."""
    broken = np.zeros(int(labels.max()) + 1, bool)
    for promise in promises:
        broken |= ~promise.kept(labels)
    return broken


def uncovered_classes(labels: NDArray[np.integer], boxes: Boxes, coverages: Sequence[Coverage]) -> NDArray[np.bool_]:
    """Which classes, numbered 0, 1, 2, ..., break a promise about a population.

    Parameters
    ----------
    boxes : Boxes
        Of every record, as it is published; those of a class are published alike.
    """
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    broken = np.zeros(len(first), bool)
    for coverage in coverages:
        broken |= ~coverage.kept(Boxes(boxes.lo[first], boxes.hi[first]), sizes)
    return broken
