"""Columns of texts that hold several items each, such as purchases or diagnoses."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from kohort.reports.propose.looks import Look
from kohort.reports.propose.roles import NOT_RECOGNISED, Proposal

_SEPARATORS = (";", "|", ",")
_SEVERAL = 0.2
"""Share of the cells that hold several items."""
_REPEATED = 5
"""How often an item occurs on average."""
_LONGEST = 40
"""Characters of an item: sentences have commas, too."""


def propose_sets(
    looks: Mapping[str, Look], proposals: Mapping[str, Proposal], decided: Collection[str]
) -> tuple[str, ...]:
    """Propose a column of items as a set, and drop further ones: what people hold together is hardly twice the same.

    Only what would be dropped as unknown, generalized as a whole or published as it is is looked at: what identifies
    people stays dropped.

    Parameters
    ----------
    decided : collection of str
        Columns whose roles somebody has decided.
    """
    found: list[str] = []
    for name, proposal in proposals.items():
        is_open = proposal.role in ("quasi", "sensitive") or proposal.reason == NOT_RECOGNISED
        if name in decided or not is_open or not looks[name].is_text:
            continue
        separator = separator_of(looks[name].values)
        if separator is None:
            continue
        if found:
            proposal.role, proposal.reason = "identifier", "a second column of sets, so it is dropped until you decide"
            proposal.type = proposal.hierarchy = proposal.marks = None
        else:
            proposal.role, proposal.type, proposal.separator = "quasi", "set", separator
            proposal.reason = "sets of items, of which an outsider may know some: two are assumed; see docs/sets.md"
            proposal.hierarchy = proposal.marks = proposal.format = None
            proposal.notes.append(
                "without a hierarchy an item is itself or *; give it a tree of the items, or a prefix"
            )
            found.append(name)
        proposal.unsure = True
    return tuple(found)


def withdraw_sets(proposals: Mapping[str, Proposal], names: Collection[str]) -> None:
    """Drop columns of sets after all: k persons are not counted beside them."""
    for name in names:
        proposal = proposals[name]
        proposal.role, proposal.type, proposal.separator = "identifier", None, None
        proposal.reason = "sets, which cannot be published where k counts persons, so it is dropped until you decide"


def separator_of(texts: pl.Series) -> str | None:
    """What stands between the items of a column of sets; None if it is none.

    Examples
    --------
    >>> separator_of(pl.Series(["a;b", "b", "a;b;c", "c;a", "a", "b;c"] * 5))
    ';'
    >>> separator_of(pl.Series(["Ann, Lee", "Joe, Day"] * 30)) is None
    True
    """
    return next((separator for separator in _SEPARATORS if _are_sets(texts, separator)), None)


def _are_sets(texts: pl.Series, separator: str) -> bool:
    cells = texts.str.split(separator)
    sizes = cells.list.len()
    # names and addresses have always as many parts
    if not len(texts) or (sizes > 1).mean() < _SEVERAL or sizes.n_unique() < 3:  # type: ignore[operator]
        return False
    items = cells.explode().str.strip_chars()
    different = items.n_unique()
    return bool(
        (items != "").all()
        and items.str.len_chars().max() <= _LONGEST  # type: ignore[operator]
        and not items.str.contains(r"^[\d.,+-]+$").all()
        and len(items) >= _REPEATED * different
        and cells.list.eval(pl.element().str.strip_chars()).list.n_unique().sum() == len(items)
    )
