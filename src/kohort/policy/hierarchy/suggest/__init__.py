"""Propose a hierarchy for a column: from what is known about its values, from their shape, or from the table.

Each proposal has its reason, and is a tree that can be written, edited and read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kohort.policy.hierarchy.suggest.codes import are_codes, trie
from kohort.policy.hierarchy.suggest.countries import by_country
from kohort.policy.hierarchy.suggest.diseases import by_icd10
from kohort.policy.hierarchy.suggest.groups import Counts, Node, grouped, nested
from kohort.policy.hierarchy.suggest.periods import by_period
from kohort.policy.hierarchy.suggest.places import by_place
from kohort.policy.hierarchy.suggest.schools import by_education
from kohort.policy.hierarchy.taxonomy import Taxonomy

__all__ = ["MOST", "Suggestion", "suggest"]

MOST = 600
"""Of more texts than this no groups are searched for: they are put together by their beginnings."""
_KNOWLEDGE = (by_country, by_icd10, by_education, by_place)


@dataclass(frozen=True)
class Suggestion:
    """A proposed tree."""

    taxonomy: Taxonomy
    tree: list[Any]
    """The same as nested tables and lists, as a policy may have it."""
    reason: str
    """Why its groups are what they are; no cell is quoted."""


def suggest(counts: Mapping[str, int], column: str, seen: Sequence[Counts] = ()) -> Suggestion:
    """Propose a tree over the texts of a column.

    Parameters
    ----------
    counts : mapping
        Distinct texts, and how many records have each; at least two.
    column : str
        What the column is called.
    seen : sequence of ndarray
        For other columns: how many records have each text and each value of that column, in the order of `counts`.
        Texts that go along with the same values come together.

    Examples
    --------
    >>> codes = dict.fromkeys(["K-10", "K-11", "K-20", "M-10"], 1)
    >>> suggest(codes, "code").taxonomy.to_rows()[0]
    ('K-10', 'K-1*', 'K-*', '*')
    """
    texts = list(counts)
    if (found := by_period(texts)) is not None:
        return _suggestion(found[0], column, found[1])  # time has its order
    for known in _KNOWLEDGE:
        if (found := known(texts)) is not None:
            tree, reason = found
            return _suggestion(_refined(tree, counts, seen), column, reason)
    if are_codes(texts):
        return _suggestion(trie(texts), column, "codes that begin alike are put together, character by character")
    if len(texts) > MOST:
        return _suggestion(trie(texts), column, f"{len(texts):,} texts: those that begin alike are put together")
    if seen:
        reason = "values whose records are alike in the other columns are put together, rare ones first"
    else:
        reason = "rare values are put together first, so that frequent ones stay as they are"
    return _suggestion(_refined(texts, counts, seen), column, reason)


def _refined(tree: Sequence[Node], counts: Mapping[str, int], seen: Sequence[Counts]) -> list[Node]:
    place = {text: number for number, text in enumerate(counts)}
    return grouped(tree, np.array(list(counts.values()), np.float64), place, seen)


def _suggestion(tree: Sequence[Node], column: str, reason: str) -> Suggestion:
    plain = nested(tree)
    return Suggestion(Taxonomy.from_tree(plain, column), plain, reason)
