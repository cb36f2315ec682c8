"""Incognito: all minimal k-anonymous full-domain generalizations, and the best of them.

LeFevre, DeWitt, Ramakrishnan: Incognito, efficient full-domain k-anonymity, SIGMOD 2005. A rival
of paper 000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Algorithm, refuse_long
from kohort.codes.boxes import Solution
from kohort.codes.levels import Ladder, Node, frequencies, in_small_classes, ladder_of, solution_at
from kohort.measures.loss import cell_costs, star_cost
from kohort.search.task import Progress, Task
from kohort.table.words import counted

if TYPE_CHECKING:
    from kohort.kernels.frequency import Frequencies

SPEED = 200_000_000
"""Rows of `limit` per second, for an estimate of the time: about what random tables have on one core."""
LEAST_ROWS = 1_000
"""A combination of levels counts for at least this number of rows: looking it up takes time, too."""
ROOM = 50_000_000
"""Cells of the frequency sets that are held at one time."""
EQUAL = 1e-12
"""Losses that differ by less count as equal: sums of fractions are rounded."""

Columns = tuple[int, ...]
"""Some axes, ascending: those that are below their top level."""


@ALGORITHMS.register("incognito")
@dataclass(frozen=True)
class Incognito(Algorithm):
    """Find every combination of levels that is k-anonymous while none with a lower level is; take the best of these.

    A combination counts as k-anonymous if no more records than the policy allows to suppress lie in
    classes of fewer than k. These are suppressed. The best combination is that of least loss, by
    the measure and the weights of the policy; of equals, the one with the lowest level in the
    first column, then in the second, and so on. No randomness, and the order of the input does
    not matter.

    Notes
    -----
    Time O(d m c) for m distinct rows and c combinations of levels, of which most are ruled out
    without a look; memory O(d m + n + c) and frequency sets of up to 200 MB.

    Examples
    --------
    >>> import kohort
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 38, 61, 64, 67], "sex": ["f", "m", "f", "m", "m", "f"]})
    >>> policy = kohort.Policy.build(k=3, quasi_identifiers=["age", "sex"]).with_changes("algorithm", name="incognito")
    >>> release = kohort.anonymize(people, policy)
    >>> sorted(set(release.table.rows()))
    [('[31 - 67]', 'f'), ('[31 - 67]', 'm')]
    >>> release.facts["levels"]
    {'age': '4 of 4', 'sex': '0 of 1'}
    """

    limit: int = 20_000_000_000
    """The search is refused as soon as it may have to look at more rows than this: combinations of levels times
    distinct rows, at least 1,000 for each combination."""

    summary = "all minimal k-anonymous combinations of levels, and the one of least loss"
    paper = "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005"
    recoding = "full-domain"
    guarantee = "k-anonymity; sizes k or more; least loss of all full-domain releases if none is suppressed"
    complexity = "O(d m c) for m distinct rows and c combinations of levels"

    @override
    def solve(self, task: Task) -> Solution:
        ladders = [ladder_of(axis) for axis in task.codes.axes]
        node = best_node(task, ladders, self.minimal_nodes(task, ladders))
        return solution_at(task.codes, ladders, node, task.k)

    def minimal_nodes(self, task: Task, ladders: Sequence[Ladder]) -> list[Node]:
        """All k-anonymous nodes that have no k-anonymous node below them, in lexicographic order."""
        # One class of k is published whatever may be suppressed: a release of nobody is none.
        allowance = min(task.allowance, len(task.codes.array) - task.k)
        search = _Search(frequencies(task.codes), ladders, task.k, allowance, self.limit)
        search.run(task.progress)
        return search.minimal()


@dataclass
class _Search:
    """The paper's search over sets of columns of growing size.

    A column at its top level says nothing. So a node of some columns is the node of all columns where the
    others are at their top, and to leave a column out is to take it to its top.
    """

    table: Frequencies
    ladders: Sequence[Ladder]
    k: int
    allowance: int
    limit: int
    anonymous: dict[Columns, NDArray[np.bool_]] = field(default_factory=dict)
    """For columns below their top: which of their nodes are k-anonymous, if any is. One dimension per column."""
    work: int = 0
    """Rows that the rounds so far may have looked at."""

    def run(self, progress: Progress) -> None:
        """Decide about every node."""
        free = [j for j, ladder in enumerate(self.ladders) if ladder.top > 0]
        self.anonymous[()] = np.array(True)
        found: list[Columns] = [()]
        for size in range(1, len(free) + 1):
            candidates = [
                (*columns, j)
                for columns in found
                for j in free
                if j > max(columns, default=-1) and self._may_be_anonymous((*columns, j))
            ]
            if not candidates:
                break
            self._refuse_round(candidates, size)
            found = []
            for index, columns in enumerate(candidates):
                nodes = self._anonymous_nodes(columns)
                if nodes.any():
                    self.anonymous[columns] = nodes
                    found.append(columns)
                progress((size - 1 + (index + 1) / len(candidates)) / len(free))
        progress(1.0)

    def minimal(self) -> list[Node]:
        """The k-anonymous nodes without a k-anonymous node below them."""
        tops = [ladder.top for ladder in self.ladders]
        nodes = []
        for columns, anonymous in self.anonymous.items():
            minimal = anonymous.copy()
            for place in range(len(columns)):
                above = np.moveaxis(minimal, place, 0)[1:]
                above &= ~np.moveaxis(anonymous, place, 0)[:-1]
            for j in set(range(len(tops))) - set(columns):
                more = tuple(sorted((*columns, j)))
                if more in self.anonymous:
                    minimal &= ~self.anonymous[more].take(-1, axis=more.index(j))
            for levels in np.argwhere(minimal).tolist():
                below = dict(zip(columns, levels, strict=True))
                nodes.append(tuple(below.get(j, top) for j, top in enumerate(tops)))
        return sorted(nodes)

    def _may_be_anonymous(self, columns: Columns) -> bool:
        """Whether something is left when any one column is left out."""
        return all(_without(columns, place) in self.anonymous for place in range(len(columns)))

    def _refuse_round(self, candidates: Sequence[Columns], size: int) -> None:
        """Refuse a round that would take too long, before it begins."""
        nodes = sum(prod(self.ladders[j].top for j in columns) for columns in candidates)
        rows = len(self.table.counts)
        self.work += nodes * max(rows, LEAST_ROWS)
        columns = counted(size, "column", "columns")
        what = f"may have to look at {nodes:,} combinations of levels of {columns} with {rows:,} distinct rows"
        instead = "choose fewer quasi-identifiers or hierarchies of fewer levels, or use 'datafly', which tries few"
        refuse_long("incognito", self.work, self.limit, SPEED, what, instead)

    def _anonymous_nodes(self, columns: Columns) -> NDArray[np.bool_]:
        """Which nodes of some columns, all below their top, are k-anonymous; from the lowest up."""
        from kohort.kernels.frequency import Frequencies, roll_up

        ladders = [self.ladders[j] for j in columns]
        # Only a node that is k-anonymous without any one column can be so with all.
        candidates = np.ones([ladder.top for ladder in ladders], bool)
        for place in range(len(columns)):
            candidates &= np.expand_dims(self.anonymous[_without(columns, place)], place)
        anonymous = np.zeros_like(candidates)
        nodes = sorted(map(tuple, np.argwhere(candidates).tolist()), key=sum)
        if not nodes:
            return anonymous
        lowest = (0,) * len(columns)
        raw = Frequencies(np.ascontiguousarray(self.table.rows[:, columns]), self.table.counts)
        base, _ = roll_up(raw, [ladder.groups[0] for ladder in ladders])
        before: dict[Node, Frequencies] = {}
        for _, layer in groupby(nodes, key=sum):
            sets: dict[Node, Frequencies] = {}
            room = ROOM
            for node in layer:
                below = [_lower(node, place) for place, level in enumerate(node) if level]
                if any(anonymous[lower] for lower in below):
                    anonymous[node] = True
                    continue
                # The smallest frequency set that can be rolled up.
                known = [(before[lower], lower) for lower in below if lower in before]
                fine, start = min([*known, (base, lowest)], key=lambda pair: len(pair[0].counts))
                maps = [ladder.step(*levels) for ladder, *levels in zip(ladders, start, node, strict=True)]
                classes, _ = roll_up(fine, maps)
                if classes.small(self.k) <= self.allowance:
                    anonymous[node] = True
                elif classes.rows.size <= room:
                    sets[node] = classes
                    room -= classes.rows.size
            before = sets
        return anonymous


def _without(columns: Columns, place: int) -> Columns:
    return columns[:place] + columns[place + 1 :]


def _lower(node: Node, place: int) -> Node:
    return (*node[:place], node[place] - 1, *node[place + 1 :])


def best_node(task: Task, ladders: Sequence[Ladder], nodes: Sequence[Node]) -> Node:
    """The node of least loss, the lexicographically first of equals."""
    losses = losses_of_nodes(task, ladders, nodes)
    return nodes[int(np.argmax(losses <= losses.min() + EQUAL))]


def losses_of_nodes(task: Task, ladders: Sequence[Ladder], nodes: Sequence[Node]) -> NDArray[np.float64]:
    """The loss of each node; a suppressed record loses what `*` does."""
    rows, axes = task.codes.distinct, task.codes.axes
    weights = np.array([axis.weight for axis in axes])
    shares = weights / weights.sum()
    by_code = [
        [
            shares[j] * cell_costs(task.measure, axis, span.lo, span.hi)
            for span in map(ladder.spans, range(ladder.top + 1))
        ]
        for j, (axis, ladder) in enumerate(zip(axes, ladders, strict=True))
    ]
    totals = [[float(rows.counts @ costs[rows.codes[:, j]]) for costs in by_code[j]] for j in range(len(axes))]
    losses = np.array([sum(totals[j][level] for j, level in enumerate(node)) for node in nodes])
    if task.allowance > 0:
        whole = sum(share * star_cost(task.measure, axis) for share, axis in zip(shares, axes, strict=True))
        for index, node in enumerate(nodes):
            small, _ = in_small_classes(task.codes, ladders, node, task.k)
            lost = sum(by_code[j][level][rows.codes[small, j]] for j, level in enumerate(node))
            losses[index] += rows.counts[small] @ (whole - lost)
    return losses / len(task.codes.array)
