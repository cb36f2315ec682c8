"""The repair stage: keep what a policy promises about sensitive values and populations, whatever made the classes.

Classes that break a promise are merged with others. Where that does not help, since two classes may keep a promise
that they break as one, records are dealt anew by their sensitive values; tables of a dozen records are searched to the
end. What no release of all records keeps may be kept by one without some of them, if the policy allows to suppress
them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes, Solution, boxes_of_labels, classes_of_boxes
from kohort.codes.encode import STAR, Axis, Codes
from kohort.errors import InfeasibleError
from kohort.privacy import Promise
from kohort.search.dealing import dealt_without_surplus, ways_to_deal, without_surplus
from kohort.search.effort import efforts_of, refined_solution
from kohort.search.exhaustive import exhausted
from kohort.search.merge import merged
from kohort.search.refine import Effort, Search
from kohort.search.task import Task
from kohort.search.terms import Terms, uncovered_classes
from kohort.table.words import counted

EFFORT = 20.0
"""Length of the search that repairs classes that no merging repairs; see `Effort.work`."""
LONG_EFFORT, HEAT = 400.0, 1e7
"""The same for records that were dealt anew; and its heat at the start, at which any loss is nothing."""
STARTS = 3
"""Ways to deal records anew that are repaired if none keeps all promises."""
ROUNDS = 5
"""How often classes are repaired again because others have become `*`."""
ONE_BY_ONE = 5
"""How often classes are merged with one other class each, before it becomes twice as many again and again."""


def repaired(task: Task, solution: Solution) -> Solution:
    """The solution with every promise kept: classes that break one are merged with others at the least loss.

    Promises that merging cannot keep (those of models that are not monotone) are first repaired by exchanges between
    neighbouring classes. If that fails, too, the records are dealt anew.

    Raises
    ------
    InfeasibleError
        When a promise is still broken in the end.
    """
    if not task.promises and not task.coverages:
        return solution
    kept = _kept(task, solution)
    terms = _terms(task).among(kept)
    boxes = solution.boxes.of(kept)
    labels = classes_of_boxes(terms.codes.axes, boxes).astype(np.int32)
    before = broken_classes(labels, terms.promises) | uncovered_classes(labels, boxes, task.coverages)
    if not before.any():
        return solution
    if any(not promise.model.monotone and not promise.kept(labels).all() for promise in terms.promises):
        search = Search(terms.codes, task.costs, task.k, task.rng, task.threads, terms.promises, quick=True)
        labels = search.refined(labels, Effort(EFFORT), _nobody)
    classes = f"{int(before.sum()):,} of {len(before):,} classes"
    merging = merged_until_kept(terms.codes, task, terms.promises, labels)
    if merging is not None:
        boxes = boxes_of_labels(terms.codes.array, merging)
        return _solution(task, kept, boxes, solution, f"{classes}, by merging them with others")
    return _formed_anew(task, solution, f"{classes}, by forming all of them anew")


def refined_and_repaired(task: Task, solution: Solution) -> Solution:
    """The solution refined and every promise kept; the solution itself, which keeps them, if that fails."""
    try:
        return repaired(task, refined_solution(task, solution))
    except InfeasibleError:
        return solution


def with_fewer_stars(task: Task, solution: Solution) -> Solution:
    """The solution, or one in which fewer records are `*` in every quasi-identifier, where these count as suppressed.

    Only tables that are so small that all classes can be looked at are searched; in others, a class that is
    generalized to the top is as rare as it is expensive.
    """
    stars = NotAllStars(task.codes.axes)
    kept = _kept(task, solution)
    hidden = int((~(kept & stars.shown(solution.boxes))).sum())
    if hidden <= task.allowance:
        return solution
    terms = _terms(task)
    answer = exhausted(replace(terms, coverages=(*terms.coverages, stars)), task.allowance)
    if answer.boxes is None:
        return solution
    return _solution(task, answer.kept, answer.boxes, solution, "all classes, by forming them anew")


def repaired_beside_stars(task: Task, solution: Solution) -> Solution:
    """The solution with every promise kept where classes that are `*` in every quasi-identifier count as suppressed.

    They are no classes then, and the others are compared with the records that are left.

    Raises
    ------
    InfeasibleError
        When a promise is still broken in the end.
    """
    if not task.promises and not task.coverages:
        return solution
    stars = NotAllStars(task.codes.axes)
    for _ in range(ROUNDS):
        kept = _kept(task, solution)
        shown = kept & stars.shown(solution.boxes)
        if not shown.any() or shown.sum() == kept.sum():
            return solution
        some = replace(solution, kept=shown)
        found = repaired(task, some)
        if found is some:
            return solution
        solution = found
    raise InfeasibleError(
        "no classes were found with which every promise is kept if those of nothing but * count as suppressed; choose "
        "suppressed = 'withheld', or weaker parameters."
    )


@dataclass(frozen=True)
class NotAllStars:
    """That a class is not generalized to `*` in every quasi-identifier."""

    axes: tuple[Axis, ...]

    def kept(self, boxes: Boxes, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which classes keep it, by the box of each."""
        return self.shown(boxes)

    def shown(self, boxes: Boxes) -> NDArray[np.bool_]:
        """Which boxes say something."""
        columns = [axis.published(boxes.lo[:, j], boxes.hi[:, j]) for j, axis in enumerate(self.axes)]
        stars: NDArray[np.bool_] = np.all([texts.eq_missing(STAR).to_numpy() for texts in columns], axis=0)
        return ~stars


def merged_until_kept(
    codes: Codes, task: Task, promises: Sequence[Promise], labels: NDArray[np.int32]
) -> NDArray[np.int32] | None:
    """Merge classes that break a promise with others until none is broken; None if one class of all breaks one."""
    for attempt in itertools.count():
        # Two clusters with one box are one class to whoever reads the release.
        boxes = Solution.of_labels(codes, labels).boxes
        labels = classes_of_boxes(codes.axes, boxes).astype(np.int32)
        broken = broken_classes(labels, promises) | uncovered_classes(labels, boxes, task.coverages)
        # Suppression may leave too small a class.
        broken |= np.bincount(labels) < task.k
        if not broken.any():
            return labels
        if len(broken) == 1:
            break
        # A large class may need very many others: then they are not taken one by one.
        more = (1 << max(0, attempt - ONE_BY_ONE)) // 2
        labels = merged(codes.array, task.costs, labels, broken, promises, task.rng, more)
    return None


def broken_classes(labels: NDArray[np.integer], promises: Sequence[Promise]) -> NDArray[np.bool_]:
    """Which classes, numbered 0, 1, 2, ..., break a promise."""
    broken = np.zeros(int(labels.max()) + 1, bool)
    for promise in promises:
        broken |= ~promise.kept(labels)
    return broken


# -- where merging does not help -------------------------------------------------------------------


def _formed_anew(task: Task, solution: Solution, how: str) -> Solution:
    """Classes that are formed from the beginning, for the sake of the promises; records suppressed if they must be.

    Raises
    ------
    InfeasibleError
        When none are found; it says whether that proves that there are none.
    """
    terms = _terms(task)
    everyone = np.ones(terms.records, bool)
    allowance = task.allowance
    answer = exhausted(terms, allowance)
    if answer.boxes is not None:
        return _solution(task, answer.kept, answer.boxes, solution, how)
    if not answer.proven:
        boxes = _merged_anew(task, terms) if terms.monotone else _without_suppression(task, terms)
        if boxes is not None:
            return _solution(task, everyone, boxes, solution, how)
        for kept, boxes in _with_suppression(task, terms, allowance):
            return _solution(task, kept, boxes, solution, how)
    proven = answer.proven or (terms.monotone and not allowance)
    # What one part cannot keep the whole table may.
    is_part = task.records > terms.records
    raise InfeasibleError(_refusal(task, terms, allowance, proven=proven and not is_part))


def _without_suppression(task: Task, terms: Terms) -> Boxes | None:
    """Boxes of all records with which every promise is kept; None if none are found."""
    starts = []
    for way in ways_to_deal(terms):
        labels = way(terms, task.rng)
        broken = int(terms.broken(labels)[labels].sum())
        starts.append((broken, labels))
        if not broken:
            break
    for broken, labels in sorted(starts, key=lambda start: start[0])[:STARTS]:
        search = _search(task, terms)
        changed = search.refined(labels, Effort(LONG_EFFORT, heat=HEAT), _nobody) if broken else labels
        boxes = _improved(task, terms, search, changed)
        if boxes is not None:
            return boxes
    return None


def _with_suppression(task: Task, terms: Terms, allowance: int) -> Iterator[tuple[NDArray[np.bool_], Boxes]]:
    """Ways to keep every promise without some of the records: fewest of them first."""
    if allowance <= 0:
        return
    one = np.zeros(terms.records, np.int32)
    kept = without_surplus(terms, one, allowance, task.rng, terms.k)
    if kept is not None and kept.any():
        # One class of these will do; so will smaller ones that are merged where they must be.
        boxes = _merged_anew(task, terms.among(kept))
        if boxes is not None:
            yield kept, boxes
    dealt = [dealt_without_surplus(terms, way, allowance, task.rng) for way in ways_to_deal(terms)]
    for kept, labels in sorted(filter(None, dealt), key=lambda way: -int(way[0].sum())):
        some = terms.among(kept)
        boxes = _improved(task, some, _search(task, some), labels)
        if boxes is not None:
            yield kept, boxes


def _merged_anew(task: Task, terms: Terms) -> Boxes | None:
    """Boxes of the best classes that a search finds, merged where they must be; None if one class of all is broken."""
    if terms.broken(np.zeros(terms.records, np.int32)).any():
        return None
    search = _search(task, terms)
    labels = search.refined(search.start, efforts_of(task, 1.0)[0], _nobody)
    merging = merged_until_kept(terms.codes, task, terms.promises, labels)
    return None if merging is None else boxes_of_labels(terms.codes.array, merging)


def _search(task: Task, terms: Terms) -> Search:
    return Search(terms.codes, task.costs, task.k, task.rng, task.threads, terms.promises)


def _improved(task: Task, terms: Terms, search: Search, labels: NDArray[np.int32]) -> Boxes | None:
    """The boxes of classes that keep every promise, if they do, after a search that lowers their loss."""
    better = _numbered(search.refined(labels, efforts_of(task, 1.0)[0], _nobody))
    for some in (better, _numbered(labels)):
        if not terms.broken(some).any():
            boxes = terms.published(some)
            if boxes is not None:
                return boxes
    return None


def _kept(task: Task, solution: Solution) -> NDArray[np.bool_]:
    """Which records are published."""
    return np.ones(len(task.codes.array), bool) if solution.kept is None else solution.kept


def _numbered(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same classes as 0, 1, 2, ..."""
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _refusal(task: Task, terms: Terms, allowance: int, *, proven: bool) -> str:
    """Why there is no release, or none that was found."""
    names = [promise.model.name for promise in terms.promises]
    names += [coverage.model.name for coverage in task.coverages]
    kept = ", ".join(dict.fromkeys(names))
    without = f" and suppress up to {allowance:,} of them" if allowance > 0 else ""
    if proven:
        return (
            f"{kept}: impossible for this table; every way to put its {terms.records:,} records into classes of at "
            f"least {terms.k:,}{without} breaks a promise. Choose weaker parameters."
        )
    return (
        f"no release was found that keeps {kept}: even one class of all records does not, and no smaller ones that do "
        "were found, although there may be some; choose weaker parameters, or allow to suppress more records."
    )


def _terms(task: Task) -> Terms:
    return Terms(task.codes, task.costs, task.k, task.promises, task.coverages)


def _solution(task: Task, kept: NDArray[np.bool_], boxes: Boxes, solution: Solution, how: str) -> Solution:
    """What was found, for all records."""
    gone = int((~kept).sum())
    if gone:
        how += f"; {counted(gone, 'record is', 'records are')} suppressed"
    facts = {**solution.facts, "repaired": how}
    classes = int(classes_of_boxes(task.codes.axes, boxes).max()) + 1
    if kept.all():
        return Solution(boxes, classes, None, facts)
    whole = Boxes(task.codes.array.copy(), task.codes.array.copy())
    whole.lo[kept], whole.hi[kept] = boxes.lo, boxes.hi
    return Solution(whole, classes, kept, facts)


def _nobody(share: float, cost: float) -> None:
    """The progress of a search that nobody watches."""
