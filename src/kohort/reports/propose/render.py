"""The text of a proposed policy: a reason for each decision, and one entry for many columns that are alike."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kohort.policy.faults import toml_key, toml_text
from kohort.policy.patterns import STAR
from kohort.reports.propose.persons import Person
from kohort.reports.propose.roles import Proposal

_MANY_ALIKE = 8
"""From this number on, columns that are proposed alike and are named alike get one entry."""


class Tokens(NamedTuple):
    """Texts for a missing value."""

    known: Sequence[str]
    """All of them."""
    far: Sequence[str]
    """Those that are numbers."""


def policy_text(
    source: str,
    rows: int,
    k: int,
    tokens: Tokens,
    settings: Mapping[str, Any],
    proposals: Mapping[str, Proposal],
    person: Person | None,
    found: Sequence[str],
) -> str:
    """The policy file.

    Parameters
    ----------
    settings : mapping
        Keys of [input] that were given.
    found : sequence of str
        What is said of the table as a whole.
    """
    unsure = sum(proposal.unsure for proposal in proposals.values())
    lines = [
        f"# Policy proposed for {source} ({rows:,} records). Read every line: you decide, kohort only proposes.",
        "# Roles: identifier = dropped; quasi = generalized, an outsider may know it; sensitive = published, must not",
        "# be learned about a person; insensitive = published as it is.",
    ]
    if unsure:
        lines.append(f"# UNSURE marks {unsure} of {len(proposals)} columns: search for the word and decide.")
    lines += [f"# {line}" for line in found]
    listed = ", ".join(map(toml_text, tokens.known))
    doubt = "  # UNSURE: numbers far from all others of their columns are read as missing" if tokens.far else ""
    lines += ["", "[input]", f"missing = [{listed}]{doubt}"]
    lines += [f"{key} = {_toml(value)}" for key, value in settings.items() if key != "missing"]
    lines += ["", "[privacy]", f"k = {k}  # every published combination is shared by at least k records"]
    if person is not None:
        mark = "UNSURE: " if person.unsure else ""
        lines.append(f"person = {toml_text(person.name)}  # {mark}{person.reason}")
    lines += [
        f'models = [{{ model = "k-m-anonymity", column = {toml_text(name)}, m = 2 }}]  # at most m items are known'
        for name, proposal in proposals.items()
        if proposal.type == "set"
    ]
    lines += [
        "suppression_limit = 0.0  # share of records that may be suppressed",
        'missing = "own-value"  # a missing quasi-identifier counts as a value of its own',
        "",
        "[algorithm]",
        'name = "auto"',
        'measure = "ncp"',
    ]
    bulk = _alike(proposals, None if person is None else person.name)
    inside = {name for names in bulk.values() for name in names}
    for pattern, names in bulk.items():
        lines += ["", *_columns(pattern, [proposals[name] for name in names])]
    for name, proposal in proposals.items():
        lines += ["", *_column(name, proposal)] if name not in inside else []
    return "\n".join(lines) + "\n"


def _toml(value: str | int) -> str:
    return toml_text(value) if isinstance(value, str) else str(value)


def _alike(proposals: Mapping[str, Proposal], person: str | None) -> dict[str, list[str]]:
    """Patterns for numbered columns that are proposed alike, such as ``q*``, with the columns of each.

    Never for columns that are published as they are: next year's table may have one more that fits, and nobody has
    looked at it. Columns that a pattern fits and that are proposed otherwise have an entry of their own.
    """
    found: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for name, proposal in proposals.items():
        start = re.match(r"[^\d*]+(?=\d)", name)
        is_listed = name == person or proposal.role in ("sensitive", "insensitive") or proposal.has_file
        if start and not is_listed:
            found.setdefault(start[0], {}).setdefault(tuple(_keys(proposal)), []).append(name)
    largest = {start + STAR: max(groups.values(), key=len) for start, groups in found.items()}
    return {pattern: names for pattern, names in largest.items() if len(names) >= _MANY_ALIKE}


def _columns(pattern: str, proposals: Sequence[Proposal]) -> list[str]:
    """The lines of many columns."""
    return [
        f"[columns.{toml_key(pattern)}]",
        f"# {len(proposals):,} columns that look alike; for one of them give an entry of its own, which comes first",
        *_keys(proposals[0]),
    ]


def _column(name: str, proposal: Proposal) -> list[str]:
    """The lines of a column."""
    return [f"[columns.{toml_key(name)}]", *(f"# {note}" for note in proposal.notes), *_keys(proposal)]


def _keys(proposal: Proposal) -> list[str]:
    """What a column is, without what was counted in it."""
    mark = "UNSURE: " if proposal.unsure else ""
    lines = [f'role = "{proposal.role}"  # {mark}{proposal.reason}']
    keys = {"type": proposal.type, "format": proposal.format}
    if proposal.marks is not None:
        keys |= {"decimal": proposal.marks.decimal, "thousands": proposal.marks.thousands}
    lines += [f'{key} = "{value}"' for key, value in keys.items() if value]
    if proposal.separator:
        lines.append(f"separator = {toml_text(proposal.separator)}")
    if proposal.hierarchy:
        lines.append(f"hierarchy = {proposal.hierarchy}")
    return lines
