"""From leaf-to-root paths to one checked tree, or to sentences that say what is wrong.

A published label must name one place in the tree. The checks here all serve that rule, and the
sentences locate a fault by row and cell alone: labels are cell values, and messages never quote
cell values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.errors import DataError

Fault: TypeAlias = tuple[int, str]
"""Row number (0: the whole input) and sentence."""

SHOWN = 20


@dataclass(frozen=True)
class Place:
    """What an input is called in messages, and what its rows and cells are called."""

    where: str
    """For example ``hierarchy of column 'education' (education.csv)``."""
    row: str = "path"
    cell: str = "label"
    """The nouns in front of the numbers."""

    @classmethod
    def of(cls, column: str, file: str = "", row: str = "path", cell: str = "label") -> Place:
        """Name the hierarchy of a column, and its file if it has one."""
        return cls(f"hierarchy of column {column!r}" + (f" ({file})" if file else ""), row, cell)

    def fault(self, sentence: str, row: int = 0, cell: int = 0) -> Fault:
        """Put the location in front of a sentence."""
        at_row = f", {self.row} {row}" if row else ""
        at_cell = f", {self.cell} {cell}" if cell else ""
        return row, f"{self.where}{at_row}{at_cell}: {sentence}"


def refuse(faults: Iterable[Fault], place: Place) -> None:
    """Raise all faults together, in the order of the rows; do nothing when there are none."""
    sentences = [sentence for _, sentence in sorted(faults, key=lambda fault: fault[0])]
    if len(sentences) > SHOWN:
        more = f"{place.where}: and {len(sentences) - SHOWN} more faults like these."
        sentences = [*sentences[:SHOWN], more]
    DataError.refuse(sentences)


def grow(
    paths: Sequence[Sequence[str]],
    place: Place,
    numbers: Sequence[int] | None = None,
    faults: Iterable[Fault] = (),
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Grow the tree of all paths: the parent of every node in depth-first pre-order, -1 for the root, and the labels.

    Parameters
    ----------
    paths : sequence of sequence of str
        Labels from a leaf up to the root, one path per leaf.
    numbers : sequence of int, optional
        The row number of each path; 1, 2, 3, ... when absent.
    faults : iterable of Fault
        Faults already found, to be reported together with those found here.

    Raises
    ------
    DataError
        With one sentence per fault.
    """
    found = list(faults)
    if not paths and not found:
        found.append(place.fault(f"is empty; give one {place.row} per value, from the value up to the root."))
    forest = _Forest(place, found)
    for number, path in zip(numbers or range(1, len(paths) + 1), paths, strict=True):
        forest.add(number, path)
    forest.check()
    refuse(found, place)
    return forest.in_preorder()


@dataclass
class _Forest:
    """The tree while it grows; several roots are possible until `check` has spoken."""

    place: Place
    faults: list[Fault]
    parent: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    origin: list[tuple[int, int]] = field(default_factory=list)  # row and cell that first named the node
    children: list[list[int]] = field(default_factory=list)
    known: dict[tuple[int, str], int] = field(default_factory=dict)
    rows: dict[str, tuple[int, Sequence[str]]] = field(default_factory=dict)  # first row of each value
    ends: dict[int, int] = field(default_factory=dict)  # node of each value -> its row

    def add(self, number: int, path: Sequence[str]) -> None:
        """Add one path; nodes that earlier paths share with it are found, not made again."""
        if not self._well_formed(number, path):
            return
        before, same = self.rows.setdefault(path[0], (number, path))
        if before != number:
            row = self.place.row
            if list(same) == list(path):
                self._fault(f"repeats {row} {before}; remove one of the two.", number)
                return
            self._fault(f"places the value of {row} {before} elsewhere; keep one of the two.", number)
        node = -1
        for index in range(len(path) - 1, -1, -1):
            key = (node, path[index])
            child = self.known.get(key)
            if child is None:
                child = self.known[key] = len(self.parent)
                if node >= 0:
                    self.children[node].append(child)
                self.parent.append(node)
                self.labels.append(path[index])
                self.origin.append((number, index + 1))
                self.children.append([])
            node = child
        self.ends.setdefault(node, number)

    def check(self) -> None:
        """Collect the faults that only the whole tree shows."""
        row = self.place.row
        roots = [node for node, up in enumerate(self.parent) if up < 0]
        if len(roots) > 1:
            self._fault(
                f"ends in another root than {row} {self.origin[roots[0]][0]} ({len(roots)} roots in all); "
                f"end every {row} in the same label.",
                self.origin[roots[1]][0],
            )
        for node, number in self.ends.items():
            if self.children[node]:
                below = self.origin[self.children[node][0]][0]
                self._fault(
                    f"its value also stands above the value of {row} {below}; a value must be a leaf, "
                    "so give the group a label of its own.",
                    number,
                )
        times = Counter(self.labels)
        heads: dict[str, int] = {}
        for node, label in enumerate(self.labels):
            if times[label] > 1:
                self._check_label(node, heads)

    def _check_label(self, node: int, heads: dict[str, int]) -> None:
        """Judge a label that several nodes carry; only a chain of single children may do that."""
        label, up = self.labels[node], self.parent[node]
        number, cell = self.origin[node]
        line = list(self._ancestors(node))
        if line and node in self.ends and self.labels[line[-1]] == label:
            self._fault("the value is labelled like the root; rename the root.", number, cell)
        elif line and self.labels[up] == label:
            if len(self.children[up]) > 1:
                self._fault(
                    "carries the label of its parent, which has other children too; rename one of the two.",
                    number,
                    cell,
                )
        elif any(self.labels[ancestor] == label for ancestor in line):
            self._fault(
                f"the label is its own ancestor, with another {self.place.cell} in between; rename one of the two.",
                number,
                cell,
            )
        elif (head := heads.setdefault(label, node)) != node:
            self._check_namesake(head, node)

    def _check_namesake(self, first: int, second: int) -> None:
        """Judge two nodes of one label, neither above the other."""
        if first in self.ends and second in self.ends:
            return  # said already: two rows for one value
        (row, cell), (number, own_cell) = self.origin[first], self.origin[second]
        ups = self.parent[first], self.parent[second]
        if cell == own_cell and min(ups) >= 0:
            if self.labels[ups[0]] == self.labels[ups[1]]:
                return  # it is the parents that stand at two places, and they have their own sentence
            self._fault(
                f"has another parent than the same label in {self.place.row} {row}; give it one parent, or two names.",
                number,
                own_cell,
            )
        else:
            self._fault(
                f"the label stands at another place too ({self.place.row} {row}, {self.place.cell} {cell}); "
                "a label must name one place, so rename one of the two.",
                number,
                own_cell,
            )

    def in_preorder(self) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Renumber the nodes depth first, children in the order of their first appearance."""
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(reversed(self.children[node]))
        new = np.empty(len(order), np.int32)
        new[order] = np.arange(len(order), dtype=np.int32)
        parent = np.array(self.parent, np.int32)[order]
        return np.where(parent < 0, np.int32(-1), new[parent]), tuple(self.labels[node] for node in order)

    def _well_formed(self, number: int, path: Sequence[str]) -> bool:
        faults_before = len(self.faults)
        if len(path) < 2:
            self._fault("has no root; give the value, its coarser labels and the root.", number)
        for cell, label in enumerate(path, 1):
            if not isinstance(label, str):
                self._fault("is not text; write it in quotes.", number, cell)
            elif not label or label.isspace():
                self._fault("is empty; write a label there.", number, cell)
        return len(self.faults) == faults_before

    def _ancestors(self, node: int) -> Iterable[int]:
        while (node := self.parent[node]) >= 0:
            yield node

    def _fault(self, sentence: str, row: int = 0, cell: int = 0) -> None:
        self.faults.append(self.place.fault(sentence, row, cell))
