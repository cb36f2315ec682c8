"""Values that a hierarchy lacks, put where they seem to belong."""

from __future__ import annotations

from collections.abc import Iterable

from kohort.policy.hierarchy.taxonomy import Taxonomy

_MASK = "*"


def completed(taxonomy: Taxonomy, texts: Iterable[str]) -> tuple[Taxonomy, int, int]:
    """The tree with further leaves, and how many of these came under a branch and how many under the root.

    A branch that is called by a beginning and a ``*`` takes the texts that begin so, the longest beginning first.

    Examples
    --------
    >>> codes = Taxonomy.from_paths([("A1", "A*", "*"), ("B1", "B*", "*")], "code")
    >>> whole, *counts = completed(codes, ["A1", "A2", "C1"])
    >>> whole.leaf_labels, counts
    (('A1', 'A2', 'B1', 'C1'), [1, 1])
    """
    branches = {
        label.rstrip(_MASK): node
        for node, label in enumerate(taxonomy.labels)
        if node and taxonomy.height[node] and label.endswith(_MASK) and label.rstrip(_MASK)
    }
    known = set(taxonomy.leaf_labels)
    paths: list[tuple[str, ...]] = [_plain(row) for row in taxonomy.to_rows()]
    placed = others = 0
    for text in sorted(set(texts) - known):
        above = next((branches[text[:size]] for size in range(len(text), 0, -1) if text[:size] in branches), 0)
        path = [text]
        while above >= 0:
            path.append(taxonomy.labels[above])
            above = int(taxonomy.parent[above])
        placed, others = placed + (len(path) > 2), others + (len(path) == 2)
        paths.append(tuple(path))
    return Taxonomy.from_paths(paths, taxonomy.column), placed, others


def _plain(row: tuple[str, ...]) -> tuple[str, ...]:
    """A row without the labels that it repeats to fill its levels."""
    return tuple(label for place, label in enumerate(row) if not place or label != row[place - 1])
