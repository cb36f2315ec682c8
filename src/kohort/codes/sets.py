"""Sets and policy -> integer codes: the items as leaves of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.policy.hierarchy import Taxonomy
from kohort.policy.hierarchy.items import is_grouped, item_taxonomy
from kohort.table.sets import Ragged, Sets


@dataclass(frozen=True)
class SetCodes(Ragged):
    """The sets of all records as leaves of a tree."""

    name: str
    weight: float
    taxonomy: Taxonomy
    items: NDArray[np.int32]
    """Leaves of record after record."""
    starts: NDArray[np.int64]


def encode_sets(name: str, sets: Sets, policy: Policy) -> SetCodes:
    """Look the items up in the tree that the policy gives them.

    Raises
    ------
    DataError, PolicyError
        When items are no leaves of it, or its labels cannot be written into a set.
    """
    column = policy.columns[name]
    taxonomy = item_taxonomy(policy, name, sets.items)
    if is_grouped(policy, name) and (faulty := sum(", " in item or item.startswith("(") for item in sets.items)):
        raise DataError(
            f"column {name!r}: {faulty} different items hold a comma and a blank, or begin with a bracket, and groups "
            "of items are published with these; rename them."
        )
    _refuse_labels(taxonomy.labels, column.separator, name)
    leaves = taxonomy.codes(sets.items)
    unknown = leaves < 0
    if unknown.any():
        rows = np.searchsorted(sets.starts, np.flatnonzero(unknown[sets.codes]), side="right") - 1
        rows = np.unique(rows)
        raise DataError(
            f"column {name!r}: {unknown.sum()} different items in {len(rows)} rows are no leaves of its hierarchy "
            f"(first in row {rows[0] + 1}); add them to the hierarchy or correct the table."
        )
    return SetCodes(name, column.weight, taxonomy, leaves[sets.codes].astype(np.int32), sets.starts)


def _refuse_labels(labels: Iterable[str], separator: str | None, name: str) -> None:
    """Refuse labels that would be several items, or none, in a text."""
    if separator is None:
        return
    if faulty := sum(separator in label or label != label.strip() for label in labels):
        raise PolicyError(
            f"hierarchy of column {name!r}: {faulty} labels hold the separator of its items, or begin or end with a "
            "blank; choose another separator, or rename them."
        )
