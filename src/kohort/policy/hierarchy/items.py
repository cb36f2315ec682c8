"""The tree over the items of a column of sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kohort.errors import DataError, PolicyError
from kohort.policy.hierarchy.readers import read
from kohort.policy.hierarchy.taxonomy import ROOT, Taxonomy

if TYPE_CHECKING:
    from kohort.policy import Policy


GROUPS = "item-constraints"
"""The privacy model that merges items into groups, without a tree."""


def is_grouped(policy: Policy, name: str) -> bool:
    """Whether the items of a column are published in groups."""
    return any(model.get("model") == GROUPS and model.get("column") == name for model in policy.privacy.models)


def group_label(items: Iterable[str]) -> str:
    """What a group of items is published as: itself if it is one.

    Examples
    --------
    >>> group_label(["skin", "beef"]), group_label(["eye"])
    ('(beef, skin)', 'eye')
    """
    ordered = sorted(items)
    return ordered[0] if len(ordered) == 1 else f"({', '.join(ordered)})"


def group_items(label: str) -> tuple[str, ...]:
    """The items of a group that is published so.

    Examples
    --------
    >>> group_items("(beef, skin)"), group_items("eye")
    (('beef', 'skin'), ('eye',))
    """
    return tuple(label[1:-1].split(", ")) if is_group(label) else (label,)


def is_group(text: str) -> bool:
    """Whether a text is written as a group is, so that no item may be."""
    return text.startswith("(") and text.endswith(")") and ", " in text


def groups_taxonomy(items: Iterable[str], labels: Iterable[str], column: str) -> Taxonomy:
    """The tree of items and the groups that they are published in.

    Raises
    ------
    DataError
        When an item is in two groups.
    """
    paths: dict[str, tuple[str, ...]] = {item: (item, ROOT) for item in items}
    for label in labels:
        if label == ROOT:
            continue
        for item in group_items(label):
            if len(paths.get(item, ())) > 2:
                raise DataError(f"column {column!r}: an item is in two groups.")
            paths[item] = (item, label, ROOT) if is_group(label) else (item, ROOT)
    ordered = sorted(paths.values(), key=lambda path: path[::-1])
    return Taxonomy.from_paths(ordered or [("(none)", ROOT)], column)


def item_taxonomy(policy: Policy, name: str, items: Iterable[str], labels: Iterable[str] = ()) -> Taxonomy:
    """The tree that the policy gives the items of a column: a file, a tree, prefixes, or none between them and ``*``.

    Parameters
    ----------
    items : iterable of str
        The items of the table, of which a tree is made if the policy does not have one.
    labels : iterable of str
        What is published, where that is groups.
    """
    if is_grouped(policy, name):
        return groups_taxonomy(items, labels, name)
    spec = policy.columns[name].hierarchy
    if spec is not None and spec.file is not None:
        return read(policy.folder / spec.file, column=name)
    if spec is not None and spec.tree is not None:
        return Taxonomy.from_tree(spec.tree, column=name)
    different = sorted(set(items)) or ["(none)"]
    if spec is not None and spec.prefix is not None:
        return code_prefixes(different, lengths=spec.prefix, column=name)
    return Taxonomy.flat(different, column=name)


def code_prefixes(codes: Sequence[str], *, lengths: Sequence[int], column: str) -> Taxonomy:
    """Build a tree of ever shorter beginnings, of codes that may differ in length, such as those of ICD-10.

    ``J45*`` stands for every code that begins with J45, itself among them.

    Examples
    --------
    >>> code_prefixes(["J45", "J45.1", "J46"], lengths=(3, 1), column="diagnoses").to_rows()
    [('J45', 'J45*', 'J*', '*'), ('J45.1', 'J45*', 'J*', '*'), ('J46', 'J46*', 'J*', '*')]
    """
    if min(lengths) < 1 or list(lengths) != sorted(set(lengths), reverse=True):
        raise PolicyError(f"hierarchy of column {column!r}: prefix lengths must be positive and decrease.")
    if masked := sum("*" in code for code in codes):
        raise DataError(
            f"column {column!r}: {masked} different items hold a star, which stands for hidden characters; rename them."
        )
    ordered = sorted(codes)
    paths = [(code, *(f"{code[:length]}*" for length in lengths if len(code) >= length), ROOT) for code in ordered]
    return Taxonomy.from_paths(paths, column)
