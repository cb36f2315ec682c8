"""Nested tables and lists, the form in which people write a tree by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from kohort.policy.hierarchy.grow import Fault, Place

MOST_LEVELS = 250
"""Levels of a tree in nested tables: nobody writes more by hand, and whoever walks through it may stop here."""
TOO_DEEP = f"has more than {MOST_LEVELS} levels; leave some of them out."
Nested: TypeAlias = "Mapping[str, Nested] | Sequence[str | Mapping[str, Nested]]"
"""A table names branches; a list holds leaves and, among them, tables of further branches."""


def leaf_paths(nested: object, root: str, place: Place) -> tuple[list[tuple[str, ...]], list[Fault]]:
    """List the leaf-to-root path of every leaf, and the faults of the nesting itself.

    Examples
    --------
    >>> leaf_paths({"A": ["x", {"B": ["y"]}]}, "*", Place.of("c"))[0]
    [('x', 'A', '*'), ('y', 'B', 'A', '*')]
    """
    paths: list[tuple[str, ...]] = []
    empty = wrong = deep = 0

    def walk(branch: object, above: tuple[str, ...]) -> None:
        nonlocal empty, wrong, deep
        if len(above) > MOST_LEVELS:
            deep += 1
        elif not isinstance(branch, (Mapping, list, tuple)):
            wrong += 1
        elif not branch:
            empty += 1
        elif isinstance(branch, Mapping):
            for label, below in branch.items():
                walk(below, (label, *above))
        else:
            for item in branch:
                if isinstance(item, Mapping):
                    walk(item, above)
                else:
                    paths.append((item, *above))

    walk(nested, (root,))
    faults = []
    if deep:
        faults.append(place.fault(TOO_DEEP))
    if wrong:
        faults.append(place.fault(f"{_branches(wrong)} neither a list nor a table; list the leaves in brackets."))
    if empty:
        faults.append(place.fault(f"{_branches(empty)} without leaves; list them, or write a lone value as a leaf."))
    return paths, faults


def _branches(count: int) -> str:
    return "1 branch is" if count == 1 else f"{count} branches are"
