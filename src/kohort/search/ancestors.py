"""Parting rows by the ancestor that is nearest to them, in the manner of k-means: phase 1 of PAC.

Rows may lie anywhere: here they are an array, in Spark a table. Whoever has them counts, in whole numbers that add up
to the same wherever they are counted; what follows from the counts is computed in one place. So the parts are the
same, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kohort.kernels.proximity import Metric

USUAL = 1000
"""Records of a part that the paper aims at."""
_DRAWN_AT_ONCE = 10_000_000


class Ancestors(NamedTuple):
    """What stands for each part: the median of numbers, the lowest common ancestor of categories.

    It is given like a box: both ends are the median, or leaves whose lowest common ancestor is meant.
    """

    lo: NDArray[np.int32]
    """Shape (ancestors, axes)."""
    hi: NDArray[np.int32]


class Tally(NamedTuple):
    """Records by axis, label and code, in this order: all that new ancestors depend on."""

    axis: NDArray[np.int64]
    label: NDArray[np.int64]
    code: NDArray[np.int64]
    records: NDArray[np.int64]

    def sizes(self, labels: int) -> NDArray[np.int64]:
        """Records of each label."""
        once = self.axis == 0
        return np.bincount(self.label[once], self.records[once], labels).astype(np.int64)


@dataclass(frozen=True)
class Split:
    """Ancestors that part some rows, and the part of each."""

    metric: Metric
    ancestors: Ancestors
    one_way: bool
    label_of: NDArray[np.int64]
    """Label of the rows that each ancestor is nearest to."""

    def labels(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The label of each row."""
        return self.label_of[nearest_ancestors(self.metric, rows, self.ancestors, one_way=self.one_way)]


@dataclass(frozen=True)
class Parts:
    """A tree of splits; its leaves are the parts 0, 1, 2, ..."""

    split: Split | None
    """None where all rows are one part."""
    children: tuple[Parts | int, ...]

    def route(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """The part of each row."""
        labels = np.zeros(len(rows), np.int64) if self.split is None else self.split.labels(rows)
        found = np.empty(len(rows), np.int64)
        for label, child in enumerate(self.children):
            here = np.flatnonzero(labels == label)
            found[here] = child if isinstance(child, int) else child.route(rows[here]) if len(here) else 0
        return found


class Rows(Protocol):
    """Rows of codes, wherever they are."""

    @property
    def records(self) -> int:
        """Number of records that the rows stand for."""

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """The rows of some records, which are counted from 0 in the lexicographic order of their rows."""

    def tallied(self, split: Split) -> Tally:
        """Count the records that a split gives each label."""

    def part(self, split: Split, label: int) -> Rows:
        """The rows to which a split gives a label."""


@dataclass(frozen=True)
class LocalRows:
    """Distinct rows in lexicographic order, and the number of records of each."""

    rows: NDArray[np.int32]
    counts: NDArray[np.int64]

    @property
    def records(self) -> int:
        """Number of records that the rows stand for."""
        return int(self.counts.sum())

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """The rows of some records, which are counted from 0 in the lexicographic order of their rows."""
        return self.rows[np.searchsorted(np.cumsum(self.counts), positions, side="right")]

    def tallied(self, split: Split) -> Tally:
        """Count the records that a split gives each label."""
        return tally(self.rows, self.counts, split.labels(self.rows))

    def part(self, split: Split, label: int) -> LocalRows:
        """The rows to which a split gives a label."""
        here = split.labels(self.rows) == label
        return LocalRows(self.rows[here], self.counts[here])


@dataclass(frozen=True)
class Parting:
    """How rows are parted."""

    metric: Metric
    tau: float
    """Rounds end when ancestors move less than this, on average."""
    theta: int
    """Most rounds."""
    one_way: bool
    """See `kohort.kernels.proximity.measure_sides`."""
    capacity: int
    """A part with more records is parted again, if that makes it smaller; and the size of the sample that the first
    ancestors are chosen from."""
    k: int
    """Fewest records of a part."""

    def parts(
        self, rows: Rows, t: int, rng: np.random.Generator, finished: Callable[[int], None]
    ) -> tuple[Parts, list[int]]:
        """Part rows by t ancestors, and what is too large again.

        Parameters
        ----------
        finished : callable
            Called with the number of records whose part is settled.

        Returns
        -------
        tuple
            The tree, and the records of each part.
        """
        sizes: list[int] = []

        def parted(here: Rows, t: int) -> Parts:
            if t == 1:
                split, found = None, [here.records]
            else:
                split, found = self.split(here, t, rng)
            children: list[Parts | int] = []
            for label, size in enumerate(found):
                if size > self.capacity and size < here.records:
                    assert split is not None
                    children.append(parted(here.part(split, label), max(2, usual_parts(size, self.capacity))))
                else:
                    children.append(len(sizes))
                    sizes.append(size)
                    finished(size)
            return Parts(split, tuple(children))

        return parted(rows, t), sizes

    def split(self, rows: Rows, t: int, rng: np.random.Generator) -> tuple[Split, list[int]]:
        """Part rows once, so that no part has fewer than k records; with the records of each part."""
        positions, first = drawn(rows.records, self.capacity, rng)
        sampled, index = np.unique(rows.at(positions), axis=0, return_inverse=True)
        seeds = farthest_first(self.metric, sampled, int(index.reshape(-1)[first]), t)
        ancestors = Ancestors(sampled[seeds], sampled[seeds])
        each = np.arange(len(seeds))
        for _ in range(self.theta):
            found = rows.tallied(Split(self.metric, ancestors, self.one_way, each))
            former, ancestors = ancestors, ancestors_of(self.metric, found, ancestors)
            if shift(self.metric, former, ancestors) < self.tau:
                break
        last = rows.tallied(Split(self.metric, ancestors, self.one_way, each))
        label_of, sizes = without_small(self.metric, last, ancestors, self.k)
        return Split(self.metric, ancestors, self.one_way, label_of), sizes


def usual_parts(records: int, capacity: int) -> int:
    """The number of ancestors for a number of records."""
    return max(1, round(records / USUAL), -(-records // capacity))


def drawn(records: int, size: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], int]:
    """Draw about a number of records: their positions, ascending, and which of them is a random one."""
    some = []
    for start in range(0, records, _DRAWN_AT_ONCE):
        chances = rng.random(min(_DRAWN_AT_ONCE, records - start))
        some.append(start + np.flatnonzero(chances < size / records))
    positions = np.concatenate(some)
    if len(positions) == 0:
        positions = rng.integers(records, size=1)
    return positions, int(rng.integers(len(positions)))


def farthest_first(metric: Metric, rows: NDArray[np.int32], first: int, t: int) -> NDArray[np.int64]:
    """Choose t rows, always the one whose nearest chosen one is farthest; fewer if there are no more that differ."""
    from kohort.kernels.algorithms.pac import approach

    columns = np.ascontiguousarray(rows.T)
    sides = np.zeros(metric.offset[-1], np.int32)
    nearest = np.full(len(rows), np.iinfo(np.int32).max, np.int32)
    labels = np.empty(len(rows), np.int32)
    chosen = [first]
    while True:
        last = rows[chosen[-1]]
        approach(metric, columns, last, last, False, 0, sides, nearest, labels)
        farthest = int(np.argmax(nearest))
        if len(chosen) == t or nearest[farthest] == 0:
            return np.array(chosen, np.int64)
        chosen.append(farthest)


def nearest_ancestors(
    metric: Metric, rows: NDArray[np.int32], ancestors: Ancestors, *, one_way: bool
) -> NDArray[np.int32]:
    """Label each row with its nearest ancestor, the first of equals."""
    from kohort.kernels.algorithms.pac import approach

    columns = np.ascontiguousarray(rows.T)
    sides = np.zeros(metric.offset[-1], np.int32)
    nearest = np.full(len(rows), np.iinfo(np.int32).max, np.int32)
    labels = np.zeros(len(rows), np.int32)
    for label, (lo, hi) in enumerate(zip(*ancestors, strict=True)):
        approach(metric, columns, lo, hi, one_way, label, sides, nearest, labels)
    return labels


def tally(rows: NDArray[np.int32], counts: NDArray[np.int64], labels: NDArray[np.integer]) -> Tally:
    """Count the records of rows by axis, label and code."""
    found = []
    for axis, codes in enumerate(rows.T):
        size = int(codes.max(initial=0)) + 1
        keys = labels.astype(np.int64) * size + codes
        most = int(keys.max(initial=0)) + 1
        if most <= 4 * len(keys):
            records = np.bincount(keys, counts, most).astype(np.int64)
            keys = np.flatnonzero(records)
            records = records[keys]
        else:
            keys, index = np.unique(keys, return_inverse=True)
            records = np.bincount(index, counts).astype(np.int64)
        found.append((np.full(len(keys), axis), keys // size, keys % size, records))
    return Tally(*map(np.concatenate, zip(*found, strict=True)))


def merged(found: Tally) -> Tally:
    """Add up counts of the same axis, label and code, in whatever order they come."""
    order = np.lexsort((found.code, found.label, found.axis))
    keys = np.stack(found[:3])[:, order]
    new = np.ones(len(order), bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(new)
    axis, label, code = keys[:, starts]
    return Tally(axis, label, code, np.add.reduceat(found.records[order], starts))


def ancestors_of(metric: Metric, found: Tally, old: Ancestors) -> Ancestors:
    """The ancestors of the records with each label; one without records stays as it is.

    Missing values do not count, unless most records miss the value: then the ancestor does, too.
    """
    lo, hi = old.lo.copy(), old.hi.copy()
    everyone = found.sizes(len(lo))
    some = everyone > 0
    before = (np.cumsum(everyone) - everyone)[some]
    for axis, missing in enumerate(metric.missing):
        here = found.axis == axis
        label, codes, records = found.label[here], found.code[here], found.records[here]
        absent = np.bincount(label, records * (codes == missing), len(lo)).astype(np.int64)[some]
        present = everyone[some] - absent
        # Records of each label by code; the code of a missing value comes last.
        upto = np.cumsum(records)
        lower, upper = ((present + 1) // 2,) * 2 if metric.line[axis] else (np.ones_like(present), present)
        for ends, rank in ((lo, lower), (hi, upper)):
            reached = codes[np.minimum(np.searchsorted(upto, before + rank), len(codes) - 1)]
            ends[some, axis] = np.where(absent > present, missing, reached)
    return Ancestors(lo, hi)


def shift(metric: Metric, old: Ancestors, new: Ancestors) -> float:
    """Mean distance of the ancestors of two rounds (equation 10)."""
    from kohort.kernels.proximity import ancestor_distance

    moved = [ancestor_distance(metric, *both) for both in zip(*old, *new, strict=True)]
    return float(np.mean(moved) / metric.full.sum())


def without_small(metric: Metric, found: Tally, ancestors: Ancestors, k: int) -> tuple[NDArray[np.int64], list[int]]:
    """Merge the smallest part into the one with the nearest ancestor, until none has fewer than k records.

    Returns
    -------
    tuple
        The new label of each ancestor, and the records of each label. An ancestor without records has label 0.
    """
    from kohort.kernels.proximity import ancestor_distance

    lo, hi = ancestors.lo.copy(), ancestors.hi.copy()
    label_of = np.arange(len(lo))
    sizes = found.sizes(len(lo))
    while (sizes[sizes > 0] < k).any():
        small = int(np.argmin(np.where(sizes > 0, sizes, sizes.max() + 1)))
        others = [other for other in np.flatnonzero(sizes) if other != small]
        distances = [ancestor_distance(metric, lo[small], hi[small], lo[other], hi[other]) for other in others]
        nearest = others[int(np.argmin(distances))]
        label_of[label_of == small] = nearest
        sizes[nearest] += sizes[small]
        sizes[small] = 0
        here = (found.label == small) | (found.label == nearest)
        found = found._replace(label=np.where(found.label == small, nearest, found.label))
        grown = merged(Tally(*(column[here] for column in found))._replace(label=np.zeros(int(here.sum()), np.int64)))
        one = ancestors_of(metric, grown, Ancestors(lo[[nearest]], hi[[nearest]]))
        lo[nearest], hi[nearest] = one.lo[0], one.hi[0]
    left = np.flatnonzero(sizes)
    return np.minimum(np.searchsorted(left, label_of), len(left) - 1), [int(size) for size in sizes[left]]
