"""Propose a policy for a table: roles, types and hierarchies, each with its reason.

Nothing is published silently: a column that is not recognised is proposed as an identifier,
which drops it, and marked UNSURE for the steward to decide.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from kohort.errors import DataError
from kohort.hierarchy.suggest import Suggestion
from kohort.policy import Policy
from kohort.policy.faults import toml_key, toml_text
from kohort.reports.propose.levels import propose_generalization, propose_trees
from kohort.reports.propose.looks import Look, look_at
from kohort.reports.propose.roles import Proposal, proposed_role
from kohort.reports.propose.words import kinds_of
from kohort.table import read_table
from kohort.table.spelling import other_spellings

MISSING_TOKENS = (
    "", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-", ".", "unknown", "Unknown", "unbekannt",
    "Unbekannt", "k.A.", "inconnu", "Inconnu", "desconocido", "Desconocido", "sconosciuto", "Sconosciuto", "onbekend",
    "Onbekend", "desconhecido", "Desconhecido",
)  # fmt: skip


@dataclass(frozen=True)
class ProposedPolicy:
    """A policy that is proposed, with the hierarchies that it needs."""

    text: str
    """TOML with a reason for each decision; hierarchies are files in `folder`. No cell value is in it."""
    trees: Mapping[str, Suggestion] = field(default_factory=dict, repr=False)
    """Hierarchy file, without its folder, and the tree; labels are cell values."""
    folder: str = "hierarchies"
    """Where the hierarchies are, beside the policy."""

    @cached_property
    def policy(self) -> Policy:
        """The policy itself, with its hierarchies in it."""
        data = tomllib.loads(self.text)
        for column in data["columns"].values():
            file = column.get("hierarchy")
            if isinstance(file, str):
                column["hierarchy"] = {"tree": self.trees[Path(file).name].tree}
        return Policy(**data)

    @property
    def files(self) -> dict[str, str]:
        """All files by their paths, relative to the folder of the policy, and what is in them; without the policy."""
        return {f"{self.folder}/{file}": tree.taxonomy.to_text() for file, tree in self.trees.items()}

    def __str__(self) -> str:
        """The policy file."""
        return self.text


def propose(table: Any, *, k: int = 10, folder: str = "hierarchies") -> ProposedPolicy:
    """Propose a commented policy for a table, with hierarchies for its columns.

    Parameters
    ----------
    table
        Path of a file, or a polars, pandas or pyarrow table.
    k : int
        Smallest class size.
    folder : str
        Where the policy file expects its hierarchies, beside itself.

    Returns
    -------
    ProposedPolicy
        Its ``text`` is a policy file with a reason for each decision, and no cell value in it; its ``policy`` can
        be used at once. A column that is not recognised is dropped and marked ``UNSURE``.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [34, 36, 51, 58] * 5, "diagnosis": ["flu", "cold"] * 10})
    >>> proposed = propose(table, k=5)
    >>> {name: column.role for name, column in proposed.policy.columns.items()}
    {'age': 'quasi', 'diagnosis': 'sensitive'}
    """
    source = read_table(table)
    frame = source.frame
    if frame.height < 2:
        raise DataError(f"{source.name}: has 1 record; nobody hides in a crowd of one.")
    tokens = _tokens(frame)
    looks = {name: look_at(frame[name], tokens) for name in frame.columns}
    proposals = {name: _propose_column(look) for name, look in looks.items()}
    if not any(proposal.role == "quasi" for proposal in proposals.values()):
        # A policy needs a quasi-identifier; the likeliest is the text or number with the fewest values.
        name = min(frame.columns, key=lambda column: frame[column].n_unique())
        proposals[name].role, proposals[name].unsure = "quasi", True
        proposals[name].reason = "no column was recognised as one that an outsider may know; this has the fewest values"
        propose_generalization(proposals[name], looks[name])
    trees = propose_trees(frame, looks, proposals, f"{folder}/", tokens)
    person = _person(looks, proposals)
    text = _render(source.name, frame.height, k, tokens, proposals, person, _found_by(frame, proposals))
    proposed = ProposedPolicy(text, trees, folder)
    proposed.policy.check_columns(frame.columns)
    return proposed


def _tokens(frame: pl.DataFrame) -> list[str]:
    """Texts that stand for a missing value, as far as they occur; the empty one always does."""
    known, found = pl.Series(MISSING_TOKENS).implode(), {""}
    for name in frame.columns:
        if frame[name].dtype == pl.String:
            found.update(frame[name].filter(frame[name].is_in(known)).unique())
    return [token for token in MISSING_TOKENS if token in found]


def _propose_column(look: Look) -> Proposal:
    proposal = proposed_role(look)
    missing = look.missing
    proposal.notes.append(f"{look.distinct:,} distinct values" + (f", {missing:,} missing" if missing else ""))
    if more := other_spellings(look.values):
        is_another = "is another spelling" if more == 1 else "are other spellings"
        proposal.notes.append(
            f"{more:,} of them {is_another} of a value (blanks, Unicode, case, numbers): promises count them as one"
        )
    if proposal.role == "quasi":
        propose_generalization(proposal, look)
    elif proposal.role == "sensitive" and look.is_text:
        proposal.notes.append("a hierarchy here would let similar values count as similar")
    return proposal


def _person(looks: dict[str, Look], proposals: dict[str, Proposal]) -> str | None:
    """The column that says which records are of one person: a number of people that repeats."""
    repeating = [
        name
        for name, proposal in proposals.items()
        if proposal.role == "identifier"
        and proposal.is_number_of_people
        and not looks[name].missing
        and looks[name].distinct < 0.999 * len(looks[name].values)
        and looks[name].distinct >= 2
    ]
    of_people = [name for name in repeating if "person" in kinds_of(name)]
    return max(of_people or repeating, key=lambda name: looks[name].distinct, default=None)


def _found_by(frame: pl.DataFrame, proposals: dict[str, Proposal]) -> float:
    """The share of records that are alone with their values in the columns that are published as they are."""
    shown = [name for name, proposal in proposals.items() if proposal.role in ("sensitive", "insensitive")]
    if not shown:
        return 0.0
    return float((frame.select(shown).group_by(shown).len().get_column("len") == 1).sum() / frame.height)


def _render(
    source: str,
    rows: int,
    k: int,
    tokens: list[str],
    proposals: dict[str, Proposal],
    person: str | None,
    found: float,
) -> str:
    unsure = sum(proposal.unsure for proposal in proposals.values())
    lines = [
        f"# Policy proposed for {source} ({rows:,} records). Read every line: you decide, kohort only proposes.",
        "# Roles: identifier = dropped; quasi = generalized, an outsider may know it; sensitive = published, must not",
        "# be learned about a person; insensitive = published as it is.",
    ]
    if unsure:
        lines.append(f"# UNSURE marks {unsure} of {len(proposals)} columns: search for the word and decide.")
    if found > 0.01:
        lines.append(
            f"# The sensitive columns are published as they are, and together single out {found:.0%} of the records."
        )
    listed = ", ".join(f'"{token}"' for token in tokens)
    lines += [
        "",
        "[input]",
        f"missing = [{listed}]",
        "",
        "[privacy]",
        f"k = {min(k, rows)}  # every published combination is shared by at least k records",
    ]
    if person is not None:
        several = sum(proposal.is_number_of_people for proposal in proposals.values()) > 1
        doubt = "UNSURE: " if several else ""
        why = "its values repeat, so a person has several records: k counts persons"
        lines.append(f"person = {toml_text(person)}  # {doubt}{why}")
    lines += [
        "suppression_limit = 0.0  # share of records that may be suppressed",
        'missing = "own-value"  # a missing quasi-identifier counts as a value of its own',
        "",
        "[algorithm]",
        'name = "auto"',
        'measure = "ncp"',
    ]
    for name, proposal in proposals.items():
        mark = "UNSURE: " if proposal.unsure else ""
        lines += ["", f"[columns.{toml_key(name)}]", *(f"# {note}" for note in proposal.notes)]
        lines.append(f'role = "{proposal.role}"  # {mark}{proposal.reason}')
        if proposal.type:
            lines.append(f'type = "{proposal.type}"')
        if proposal.format:
            lines.append(f'format = "{proposal.format}"')
        if proposal.hierarchy:
            lines.append(f"hierarchy = {proposal.hierarchy}")
    return "\n".join(lines) + "\n"
