"""Privacy and utility constraints of sets (Gkoulalas-Divanis and Loukides 2012)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import override

from kohort.policy import Policy
from kohort.policy.hierarchy import Taxonomy, read
from kohort.policy.parameters import Limits
from kohort.privacy.base import MODELS, SetModel

_MOST_ITEMS = 8
"""Items of a privacy constraint: all its subsets are looked at."""


@MODELS.register("item-constraints")
@dataclass(frozen=True)
class ItemConstraints(SetModel):
    """The sets of items that need it are kept by k records or more, or by none, and so is each part of them.

    Items are put into groups, without a tree; a group is published as ``(a, b)`` and stands for some of its items.

    Examples
    --------
    >>> ItemConstraints(column="basket", protect=[["asthma", "skin"]]).protect
    (('asthma', 'skin'),)
    """

    column: str
    protect: Any = None
    """Sets of items that an outsider may know: lists, or the path of a file with one in each line."""
    every: Annotated[int, Limits(least=1)] | None = None
    """Instead: every item of the table (1), or every item and every two items (2)."""
    utility: Any = None
    """Groups of items that may be published as one, as lists or a file; all items may when absent."""
    utility_level: Annotated[int, Limits(least=1)] | None = None
    """Instead: the groups that the hierarchy of the column makes at this level."""

    summary = "listed sets of items are kept by at least k records or by none; items are merged in allowed groups"
    paper = "Gkoulalas-Divanis, Loukides 2011, 2012 (PCTA, UPCTA); used by 004"

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("protect", "utility"):
            object.__setattr__(self, key, _lists(key, getattr(self, key)))
        if (self.protect is None) == (self.every is None):
            raise ValueError("needs either 'protect', sets of items, or 'every', 1 or 2")
        if self.every is not None and self.every > 2:
            raise ValueError("'every' must be 1 or 2; list larger sets in 'protect'")
        if self.utility is not None and self.utility_level is not None:
            raise ValueError("'utility' and 'utility_level' both say which items may be merged; give one of them")

    @override
    def refuses_policy(self, policy: Policy) -> str | None:
        hierarchy = policy.columns[self.column].hierarchy
        if policy.quasi_identifiers:
            return "it is kept over the whole table, and there are other quasi-identifiers; choose 'k-m-anonymity'"
        if (self.utility_level is None) != (hierarchy is None):
            return "'utility_level' and a hierarchy of the column go together; groups of items need neither"
        if hierarchy is not None and hierarchy.file is None and hierarchy.tree is None:
            return "'utility_level' needs a hierarchy that is a file or a tree"
        return None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it names, as the policy has them."""
        return tuple(given for given in (self.protect, self.utility) if isinstance(given, str))

    def sets_of(self, key: str, folder: Path, separator: str | None) -> tuple[tuple[str, ...], ...] | None:
        """The lists of `protect` or `utility`, read from their file if there is one; None if it is absent."""
        from kohort.privacy.constraints import checked, read_constraints

        given = getattr(self, key)
        if isinstance(given, str):
            given = read_constraints(folder / given, separator, key)
        return None if given is None else checked(given, key, most=_MOST_ITEMS if key == "protect" else None)


def groups_of(policy: Policy, model: ItemConstraints, items: Iterable[str]) -> tuple[tuple[str, ...], ...] | None:
    """Items that may be published as one; None if all may."""
    column = policy.columns[model.column]
    if model.utility_level is None:
        return model.sets_of("utility", policy.folder, column.separator)
    assert column.hierarchy is not None
    if column.hierarchy.file is not None:
        tree = read(policy.folder / column.hierarchy.file, column=model.column)
    else:
        tree = Taxonomy.from_tree(column.hierarchy.tree or [], column=model.column)
    level = min(model.utility_level, tree.height_edges)
    found: dict[int, list[str]] = {}
    for item in items:
        leaf = int(tree.codes([item])[0])
        if leaf >= 0:
            found.setdefault(tree.ancestor_at(leaf, level), []).append(item)
    return tuple(tuple(group) for group in found.values())


def _lists(key: str, given: Any) -> Any:
    """A path as it is, lists as tuples."""
    if given is None or (isinstance(given, str) and given.strip() and "\0" not in given):
        return given
    if not isinstance(given, list | tuple) or not given or not all(_is_list_of_texts(one) for one in given):
        raise ValueError(f"'{key}' must be the path of a file, or a list of lists of items")
    return tuple(tuple(one) for one in given)


def _is_list_of_texts(given: Any) -> bool:
    return isinstance(given, list | tuple) and bool(given) and all(isinstance(item, str) and item for item in given)
