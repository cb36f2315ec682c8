"""Groups of values that lose little: rare values first, and values that go along with the same others.

The two groups are joined, again and again, whose records would lose least if all were published as the joined one:
records times values. How unlike they are in the other columns makes that more, since records of unlike groups are
seldom in one class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.float64]
_LEAST = 0.05
"""How unlike groups count at least, so that the same neighbours do not make everything free."""
_SPELLED = 3
"""The name of a group with up to this number of values lists them all."""
_LONG = 60


@dataclass(frozen=True)
class Branch:
    """A group with a name."""

    label: str
    children: Sequence[Node]


Node: TypeAlias = "str | Branch"


@dataclass(frozen=True)
class _Group:
    """What joining needs to know of a group."""

    node: Node
    texts: tuple[str, ...]
    """Its values, the most frequent first."""
    records: float
    seen: Counts
    """How many of its records have each value of the other columns, one column after the other."""


def grouped(tree: Sequence[Node], counts: Counts, place: Mapping[str, int], seen: Sequence[Counts] = ()) -> list[Node]:
    """Put the children of every node into groups of two, groups of these, and so on.

    Parameters
    ----------
    tree : sequence of Node
        What is under the root: texts, or groups that stay as they are.
    counts : ndarray
        Records of each text.
    place : mapping
        Text to its place in `counts` and `seen`.
    seen : sequence of ndarray
        For each other column: records of each text (rows) with each value.
    """
    shares = np.concatenate([*seen], axis=1) if seen else np.zeros((len(counts), 0))
    ends = np.cumsum([table.shape[1] for table in seen])
    taken = Counter(_labels(tree))

    def group_of(node: Node) -> _Group:
        if isinstance(node, str):
            return _Group(node, (node,), float(counts[place[node]]), shares[place[node]])
        inner = [group_of(child) for child in node.children]
        children = _joined(inner, ends, taken)
        return _union(Branch(node.label, children), inner)

    return _joined([group_of(node) for node in tree], ends, taken)


def _joined(groups: list[_Group], ends: NDArray[np.int64], taken: Counter[str]) -> list[Node]:
    """Join groups until there are two; what is left stands under their common node."""
    if len(groups) <= 2:
        return [group.node for group in groups]
    alive: list[_Group | None] = list(groups)
    costs = np.full((len(groups), len(groups)), np.inf)
    for number in range(len(groups)):
        _weigh(costs, number, alive, ends)
    for _ in range(len(groups) - 2):
        one, other = sorted(divmod(int(costs.argmin()), len(groups)))
        pair = [group for group in (alive[one], alive[other]) if group is not None]
        label = _named(pair, taken)
        alive[one] = _union(Branch(label, [group.node for group in pair]), pair)
        alive[other] = None
        costs[other], costs[:, other] = np.inf, np.inf
        _weigh(costs, one, alive, ends)
    return [group.node for group in alive if group is not None]


def _weigh(costs: Counts, number: int, alive: Sequence[_Group | None], ends: NDArray[np.int64]) -> None:
    """What joining one group with each other one costs; pairs stand above the diagonal."""
    mine = alive[number]
    assert mine is not None
    others = [place for place, group in enumerate(alive) if group is not None and place != number]
    there = [group for place in others if (group := alive[place]) is not None]
    records = np.array([group.records for group in there]) + mine.records
    values = np.array([len(group.texts) for group in there]) + len(mine.texts)
    found = records * values
    if len(ends):
        shares = np.array([group.seen / max(group.records, 1.0) for group in there])
        apart = 0.5 * np.abs(shares - mine.seen / max(mine.records, 1.0)).sum(axis=1) / len(ends)
        found = found * (_LEAST + apart) ** 2
    for place, cost in zip(others, found, strict=True):
        costs[min(place, number), max(place, number)] = cost


def _union(node: Node, groups: Sequence[_Group]) -> _Group:
    ranked = sorted(groups, key=lambda group: group.records / len(group.texts), reverse=True)
    texts = tuple(text for group in ranked for text in group.texts)
    return _Group(node, texts, sum(g.records for g in groups), np.sum([g.seen for g in groups], axis=0))


def _named(groups: Sequence[_Group], taken: Counter[str]) -> str:
    """What a group without a name is called: by its values if they are few, else by its first and their number."""
    texts = _union("", groups).texts
    label = " or ".join(texts)
    if len(texts) > _SPELLED or len(label) > _LONG:
        label = f"{texts[0][:_LONG]} and {len(texts) - 1} more"
    taken[label] += 1
    return label if taken[label] == 1 else f"{label} ({taken[label]})"


def _labels(tree: Sequence[Node]) -> list[str]:
    found = []
    for node in tree:
        found += [node] if isinstance(node, str) else [node.label, *_labels(node.children)]
    return found


def nested(tree: Sequence[Node]) -> list[Any]:
    """The tree as nested tables and lists, as hierarchy files have them."""
    return [node if isinstance(node, str) else {node.label: nested(node.children)} for node in tree]
