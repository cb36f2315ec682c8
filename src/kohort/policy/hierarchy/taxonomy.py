"""The taxonomy of a column: a checked tree, kept as integer arrays.

Nodes are numbered in depth-first pre-order and leaves in depth-first order. Then the leaves under a
node are one span of numbers, an ancestor always has a smaller number than its descendants, and the
lowest common ancestor of a set of leaves is that of its smallest and its largest number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from kohort.common.html import html_block
from kohort.errors import DataError, InternalError, PolicyError
from kohort.policy.hierarchy.arrays import block_table, common_ancestor, derive
from kohort.policy.hierarchy.grow import Place, grow
from kohort.policy.hierarchy.nested import Nested, leaf_paths

IntArray: TypeAlias = NDArray[np.int32]

ROOT = "*"
_SHOWN = 12
"""Branches of a node that a notebook shows."""


@dataclass(frozen=True, eq=False, repr=False)
class Taxonomy:
    """An immutable tree of labels over the values of one column.

    Make one with `from_paths`, `from_tree`, `flat`, a reader or a builder: those check the labels.
    Two taxonomies are equal when they are the same tree; the column is for messages.

    Parameters
    ----------
    parent : ndarray of int32
        Parent of every node in depth-first pre-order; -1 for the root, which is node 0.
    labels : tuple of str
        Label of every node.
    column : str
        The column it is for.

    Attributes
    ----------
    depth, height : ndarray of int32
        Edges from the root to the node, and from the node to its deepest leaf.
    first_leaf, last_leaf : ndarray of int32
        The span of leaf numbers under every node, both ends included.
    leaf_node : ndarray of int32
        Node of every leaf.

    Examples
    --------
    >>> illness = Taxonomy.from_tree({"Lung": ["Asthma", "Flu"], "Skin": ["Acne", "Eczema"]}, "illness")
    >>> illness
    <Taxonomy of 'illness': 4 leaves, 7 nodes, 3 levels>
    >>> illness.labels[illness.lca(0, 1)], illness.labels[illness.lca(1, 2)]
    ('Lung', '*')
    """

    parent: IntArray
    labels: tuple[str, ...]
    column: str
    depth: IntArray = field(init=False)
    height: IntArray = field(init=False)
    first_leaf: IntArray = field(init=False)
    last_leaf: IntArray = field(init=False)
    leaf_node: IntArray = field(init=False)

    def __post_init__(self) -> None:
        parent = np.array(self.parent, np.int32)
        for name, array in {"parent": parent, **derive(parent)}.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]], column: str) -> Self:
        """Make a taxonomy from one leaf-to-root path per leaf; lengths may differ.

        Raises
        ------
        DataError
            Naming every path that does not fit into one tree with unique labels.

        Examples
        --------
        >>> Taxonomy.from_paths([("Flu", "Lung", "*"), ("Acne", "*")], "illness").leaf_labels
        ('Flu', 'Acne')
        """
        return cls(*grow(list(paths), Place.of(column)), column)

    @classmethod
    def from_tree(cls, nested: Nested, column: str, root: str = ROOT) -> Self:
        """Make a taxonomy from nested tables (branches) and lists (leaves, or tables among them).

        Examples
        --------
        >>> tree = ["Healthy", {"Lung": ["Flu", {"Chronic": ["Asthma", "COPD"]}]}]
        >>> Taxonomy.from_tree(tree, "illness").to_rows()[1]
        ('Flu', 'Flu', 'Lung', '*')
        """
        place = Place.of(column, row="leaf")
        paths, faults = leaf_paths(nested, root, place)
        return cls(*grow(paths, place, faults=faults), column)

    @classmethod
    def flat(cls, leaves: Iterable[str], column: str) -> Self:
        """Make a taxonomy in which every value has the root as its parent.

        Examples
        --------
        >>> Taxonomy.flat(["Female", "Male"], "sex").to_rows()
        [('Female', '*'), ('Male', '*')]
        """
        return cls(*grow([(leaf, ROOT) for leaf in leaves], Place.of(column, row="value")), column)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaf_node)

    @property
    def height_edges(self) -> int:
        """Edges from the root to the deepest leaf."""
        return int(self.height[0])

    @property
    def levels(self) -> int:
        """Levels of the deepest leaf's path, the leaf and the root included."""
        return self.height_edges + 1

    @property
    def is_balanced(self) -> bool:
        """Whether all leaves are equally deep."""
        return bool(np.all(self.depth[self.leaf_node] == self.height_edges))

    @cached_property
    def leaf_labels(self) -> tuple[str, ...]:
        """Label of every leaf."""
        return tuple(self.labels[node] for node in self.leaf_node)

    def codes(self, labels: Sequence[str]) -> IntArray:
        """Look up the leaf number of every label; -1 where a label is no leaf."""
        number = self._leaf_number
        return np.fromiter((number.get(label, -1) for label in labels), np.int32, len(labels))

    def node_of(self, label: str) -> int | None:
        """Look up the node of a label; in a chain of equal labels the coarsest."""
        return self._coarsest.get(label)

    @overload
    def lca(self, lo: int, hi: int) -> int: ...
    @overload
    def lca(self, lo: NDArray[np.integer], hi: NDArray[np.integer]) -> IntArray: ...
    def lca(self, lo: int | NDArray[np.integer], hi: int | NDArray[np.integer]) -> int | IntArray:
        """Find the lowest common ancestor of the leaves lo to hi, in either order, number by number."""
        low, high = np.asarray(np.minimum(lo, hi)), np.asarray(np.maximum(lo, hi))
        self._check_leaves(low, high)
        nodes = common_ancestor(self._lca_table, low, high)
        return nodes if low.ndim else int(nodes)

    @overload
    def ancestor_at(self, leaf: int, level: int) -> int: ...
    @overload
    def ancestor_at(self, leaf: NDArray[np.integer], level: int) -> IntArray: ...
    def ancestor_at(self, leaf: int | NDArray[np.integer], level: int) -> int | IntArray:
        """Find the node that stands for a leaf when the whole column is generalized to a level.

        It is the highest ancestor whose height is at most `level`: the leaf itself at level 0, the root at
        the last. So the leaves under one node meet in it at one level, in unbalanced trees too.
        """
        if not 0 <= level < self.levels:
            raise PolicyError(
                f"hierarchy of column {self.column!r}: there is no level {level}; "
                f"choose one from 0 (the values) to {self.height_edges} (the root)."
            )
        leaves = np.asarray(leaf)
        self._check_leaves(leaves, leaves)
        node = self.leaf_node[leaves]
        for _ in range(level):
            up = self.parent[node]
            node = np.where((up >= 0) & (self.height[up] <= level), up, node)
        return node if leaves.ndim else int(node)

    @classmethod
    def from_levels(cls, levels: Mapping[int, Iterable[Any]], column: str) -> Self:
        """Make a taxonomy of its levels, as anjana has them: level 0 has the values, each further one their labels.

        Examples
        --------
        >>> Taxonomy.from_levels({0: [30, 31, 64], 1: ["30s", "30s", "60s"], 2: ["*", "*", "*"]}, "age").to_rows()[0]
        ('30', '30s', '*')
        """
        rows = [[str(label) for label in levels[level]] for level in sorted(levels)]
        if len({len(row) for row in rows}) != 1:
            raise DataError(
                f"hierarchy of column {column!r}: its levels must be as long as level 0; give one label each."
            )
        return cls.from_paths(list(zip(*rows, strict=True)), column)

    def to_levels(self) -> dict[int, list[str]]:
        """The levels, as anjana has them: level 0 has the values, each further one their labels."""
        return {level: list(labels) for level, labels in enumerate(zip(*self.to_rows(), strict=True))}

    def to_rows(self) -> list[tuple[str, ...]]:
        """Write the tree as ARX rows of equal length, leaf first.

        Where a branch is short, the label below the gap is repeated; the result reads back as a tree with
        the same leaves, the same common ancestors and the same heights.
        """
        leaves = np.arange(self.n_leaves)
        nodes = [self.ancestor_at(leaves, level).tolist() for level in range(self.levels)]
        return [tuple(self.labels[node] for node in row) for row in zip(*nodes, strict=True)]

    def to_text(self) -> str:
        """The ARX rows as text: semicolons, no header."""
        return "".join(";".join(map(_quoted, row)) + "\n" for row in self.to_rows())

    def to_csv(self, path: str | Path) -> None:
        """Write the ARX rows to a file: semicolons, no header, UTF-8."""
        text = self.to_text()
        # a label that starts with U+FEFF would be taken for the byte order mark: put one before it
        encoded = text.encode("utf-8-sig" if text.startswith("\ufeff") else "utf-8")
        try:
            Path(path).write_bytes(encoded)
        except OSError as error:
            raise DataError(f"{Path(path).name}: cannot be written ({error.strerror}); check the folder.") from None

    @cached_property
    def _leaf_number(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.leaf_labels)}

    @cached_property
    def _coarsest(self) -> dict[str, int]:
        return {self.labels[node]: node for node in range(self.n_nodes - 1, -1, -1)}

    @cached_property
    def _lca_table(self) -> IntArray:
        return block_table(self.parent, self.first_leaf, self.leaf_node)

    def _check_leaves(self, low: NDArray[np.integer], high: NDArray[np.integer]) -> None:
        # -1 means "no leaf" in codes; as an index it would quietly mean the last one
        if low.size and (low.min() < 0 or high.max() >= self.n_leaves):
            raise InternalError(f"hierarchy of column {self.column!r}: a code is not the number of a leaf.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.parent, other.parent)

    def __hash__(self) -> int:
        return hash((self.labels, self.parent.tobytes()))

    def __reduce__(self) -> tuple[type[Taxonomy], tuple[IntArray, tuple[str, ...], str]]:
        # arrays come back writable from a pickle; the constructor makes them read-only again
        return type(self), (self.parent, self.labels, self.column)

    def _repr_html_(self) -> str:
        """For notebooks: the tree, without the branches that are too many to look at."""
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parent.tolist()):
            children.setdefault(parent, []).append(node)

        def listed(node: int) -> str:
            below = children.get(node, [])
            more = f"<li>… {len(below) - _SHOWN:,} more</li>" if len(below) > _SHOWN else ""
            inner = f"<ul>{''.join(map(listed, below[:_SHOWN]))}{more}</ul>" if below else ""
            return f"<li>{escape(self.labels[node])}{inner}</li>"

        return html_block(repr(self), f"<ul>{listed(0)}</ul>")

    def __repr__(self) -> str:
        counts = f"{self.n_leaves:,} leaves, {self.n_nodes:,} nodes, {self.levels} levels"
        return f"<Taxonomy of {self.column!r}: {counts}>"


def _quoted(label: str) -> str:
    # every delimiter that a reader may guess is quoted, so that only the real ones are seen
    return '"' + label.replace('"', '""') + '"' if any(char in label for char in ';,|\t"\r\n') else label
