"""Where a table is cut into partitions: a tree of cuts, one column at a time.

A cut says `code <= key`. Every engine follows the same cuts, as numbers in NumPy or as an expression in SQL, so a
record is in the same partition whoever asks.

A class that lies on a border cannot be formed any more, so the cuts go where there are few: a sample of the table is
clustered first, and a cut is good if it leaves most of these clusters whole.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.codes.boxes import Boxes

LEAST_SHARE = 0.08
"""A cut leaves at least this share of the records on either side."""


@dataclass(frozen=True)
class Cut:
    """Records whose code is at most the key on one side, the others on the other."""

    axis: int
    key: int
    below: Cut | int
    """Another cut, or the number of a leaf."""
    above: Cut | int


@dataclass(frozen=True)
class Cuts:
    """A tree of cuts; a partition is one of its leaves, or some of them."""

    root: Cut | int
    """Its leaves are numbered 0, 1, 2, ... from left to right."""
    part_of: tuple[int, ...] = ()
    """The partition of each leaf: the smallest number of its leaves. When empty, every leaf is a partition."""

    @property
    def parts(self) -> list[int]:
        """Numbers of all partitions, ascending."""
        return sorted(self.groups)

    @property
    def groups(self) -> dict[int, tuple[int, ...]]:
        """The leaves of each partition, ascending."""
        found: dict[int, tuple[int, ...]] = {}
        for leaf in _leaves(self.root):
            part = self._part(leaf)
            found[part] = (*found.get(part, ()), leaf)
        return found

    def route(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """The partition of each row of codes."""
        parts = np.empty(len(codes), np.int32)
        waiting: list[tuple[Cut | int, NDArray[np.int64]]] = [(self.root, np.arange(len(codes)))]
        while waiting:
            node, rows = waiting.pop()
            if isinstance(node, int):
                parts[rows] = self._part(node)
                continue
            small = codes[rows, node.axis] <= node.key
            waiting += [(node.below, rows[small]), (node.above, rows[~small])]
        return parts

    def expression(self, columns: Sequence[str]) -> str:
        """The partition of a record in SQL, given the columns that hold the codes."""

        def written(node: Cut | int) -> str:
            if isinstance(node, int):
                return str(self._part(node))
            below, above = written(node.below), written(node.above)
            return f"CASE WHEN {columns[node.axis]} <= {node.key} THEN {below} ELSE {above} END"

        return written(self.root)

    def joined(self, records: Mapping[int, int], fits: Callable[[tuple[int, ...]], bool]) -> Cuts:
        """The same cuts with every partition that does not fit joined with another: until all fit, or there is one.

        The smallest such partition comes first. It joins a partition of the smallest branch that has another one: of
        those that make it fit, the smallest, and else the smallest of all.

        Parameters
        ----------
        records : mapping
            Records of each leaf; none where it is absent.
        fits : callable
            Called with the leaves of a partition.
        """
        groups = self.groups
        size = {part: sum(records.get(leaf, 0) for leaf in leaves) for part, leaves in groups.items()}
        waiting = {part for part, leaves in groups.items() if not fits(leaves)}
        while waiting and len(groups) > 1:
            part = min(waiting, key=lambda one: (size[one], one))
            near = sorted(self._near(part, groups), key=lambda one: (size[one], one))
            together = [tuple(sorted(groups[part] + groups[other])) for other in near]
            place = next((place for place, leaves in enumerate(together) if fits(leaves)), None)
            other, leaves = near[place or 0], together[place or 0]
            groups = {one: some for one, some in groups.items() if one not in (part, other)} | {leaves[0]: leaves}
            size[leaves[0]] = size[part] + size[other]
            waiting -= {part, other}
            if place is None:
                waiting.add(leaves[0])
        part_of = {leaf: part for part, leaves in groups.items() for leaf in leaves}
        return Cuts(self.root, tuple(part_of[leaf] for leaf in sorted(part_of)))

    def _part(self, leaf: int) -> int:
        return self.part_of[leaf] if self.part_of else leaf

    def _near(self, part: int, groups: Mapping[int, tuple[int, ...]]) -> set[int]:
        """The other partitions of the smallest branch that has this one and another."""
        part_of = {leaf: one for one, leaves in groups.items() for leaf in leaves}

        def found(node: Cut | int) -> tuple[set[int], set[int]]:
            """All partitions of a branch, and those that are near."""
            if isinstance(node, int):
                return {part_of[node]}, set()
            (below, nearer), (above, near) = found(node.below), found(node.above)
            both = below | above
            return both, nearer or near or (both - {part} if part in both else set())

        return found(self.root)[1]


def _leaves(node: Cut | int) -> list[int]:
    return [node] if isinstance(node, int) else _leaves(node.below) + _leaves(node.above)


@dataclass
class _Leaf:
    """Clusters that may be cut apart still."""

    clusters: NDArray[np.int64]
    cut: tuple[int, int] | None = None
    below: _Leaf | None = None
    above: _Leaf | None = None


def find_cuts(boxes: Boxes, counts: NDArray[np.float64], *, parts: int, most: float = 0.0, least: float = 1.0) -> Cuts:
    """Cut a table into partitions: the largest one is cut until there are enough, or none is too large.

    Parameters
    ----------
    boxes : Boxes
        Of clusters of the table, or of a sample of it.
    counts : float64[clusters]
        Records that each stands for.
    parts : int
        How many partitions there are at most.
    most : float
        Partitions with fewer records, or as many, are not cut.
    least : float
        Fewest records of a partition.
    """
    root = _Leaf(np.arange(len(counts)))
    waiting: list[tuple[float, int, _Leaf]] = [(-float(counts.sum()), 0, root)]
    turns = itertools.count(1)
    number = 1
    while waiting and number < parts and -waiting[0][0] > most:
        leaf = heapq.heappop(waiting)[2]
        some = leaf.clusters
        leaf.cut = _best(boxes.lo[some], boxes.hi[some], counts[some], least)
        if leaf.cut is None:
            continue  # it stays as it is
        axis, key = leaf.cut
        small = _middle(boxes.lo[some, axis], boxes.hi[some, axis]) <= key
        leaf.below, leaf.above = _Leaf(some[small]), _Leaf(some[~small])
        for side in (leaf.below, leaf.above):
            heapq.heappush(waiting, (-float(counts[side.clusters].sum()), next(turns), side))
        number += 1
    return Cuts(_numbered(root, [0]))


def dealt_cuts(axis: int, size: int, parts: int) -> Cuts:
    """Cut one axis, whose codes are spread evenly below some size, into partitions of equal width."""

    def cut(first: int, last: int) -> Cut | int:
        if last - first == 1:
            return first
        middle = (first + last) // 2
        return Cut(axis, middle * size // parts - 1, cut(first, middle), cut(middle, last))

    return Cuts(cut(0, parts))


def _numbered(leaf: _Leaf, following: list[int]) -> Cut | int:
    """The tree with its leaves numbered from left to right."""
    if leaf.below is None or leaf.above is None or leaf.cut is None:
        following[0] += 1
        return following[0] - 1
    return Cut(*leaf.cut, _numbered(leaf.below, following), _numbered(leaf.above, following))


def _middle(lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.int32]:
    """By which a cluster is on one side of a cut or on the other."""
    return (lo + hi) // 2


def _best(
    lo: NDArray[np.int32], hi: NDArray[np.int32], counts: NDArray[np.float64], least: float
) -> tuple[int, int] | None:
    """The cut that divides fewest records of clusters for what it separates; None if there is none.

    What a cut separates is its entropy: 1 bit for two halves, less for uneven partitions.
    """
    total = float(counts.sum())
    chosen, lowest = None, np.inf
    for axis in range(lo.shape[1]):
        keys = np.unique(np.concatenate([lo[:, axis], hi[:, axis]]))
        if len(keys) < 2:
            continue
        begun = np.cumsum(np.bincount(np.searchsorted(keys, lo[:, axis]), counts, len(keys)))[:-1]
        ended = np.cumsum(np.bincount(np.searchsorted(keys, hi[:, axis]), counts, len(keys)))[:-1]
        divided = begun - ended
        place_of = np.searchsorted(keys, _middle(lo[:, axis], hi[:, axis]))
        share = np.cumsum(np.bincount(place_of, counts, len(keys)))[:-1] / total
        smaller = np.minimum(share, 1 - share)
        even = smaller * total >= max(least, LEAST_SHARE * total)
        if not even.any():
            continue
        gained = -(smaller[even] * np.log2(smaller[even]) + (1 - smaller[even]) * np.log2(1 - smaller[even]))
        harm = (divided[even] + 1) / gained
        place = int(np.argmin(harm))
        if harm[place] < lowest:
            chosen, lowest = (axis, int(keys[:-1][even][place])), float(harm[place])
    return chosen
