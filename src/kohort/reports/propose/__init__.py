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
from kohort.policy import Policy
from kohort.policy.hierarchy.suggest import Suggestion
from kohort.policy.sections import Input, Role
from kohort.reports.alike import separation
from kohort.reports.propose.levels import propose_generalization, propose_marks, propose_trees
from kohort.reports.propose.looks import Look, look_at, with_marks_of_all
from kohort.reports.propose.marks import sentinels
from kohort.reports.propose.persons import person_of, withdraw_lone
from kohort.reports.propose.render import Tokens, policy_text
from kohort.reports.propose.roles import Proposal, proposed_role
from kohort.reports.propose.sets import propose_sets, withdraw_sets
from kohort.reports.propose.together import following, singled_out
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
    doubts: Mapping[str, str] = field(default_factory=dict)
    """Columns that are marked ``UNSURE``, and why."""
    trees: Mapping[str, Suggestion] = field(default_factory=dict, repr=False)
    """Hierarchy file, without its folder, and the tree; labels are cell values."""
    folder: str = "hierarchies"
    """Where the hierarchies are, beside the policy."""
    columns: tuple[str, ...] = field(default=(), repr=False)
    """Those of the table, for patterns of the policy to stand for."""

    @cached_property
    def policy(self) -> Policy:
        """The policy itself, with its hierarchies in it, and an entry for each column."""
        data = tomllib.loads(self.text)
        for column in data["columns"].values():
            file = column.get("hierarchy")
            if isinstance(file, str):
                column["hierarchy"] = {"tree": self.trees[Path(file).name].tree}
        return Policy(**data).for_columns(self.columns)

    @property
    def files(self) -> dict[str, str]:
        """All files by their paths, relative to the folder of the policy, and what is in them; without the policy."""
        return {f"{self.folder}/{file}": tree.taxonomy.to_text() for file, tree in self.trees.items()}

    def __str__(self) -> str:
        """The policy file."""
        return self.text


def propose(
    table: Any,
    *,
    k: int = 10,
    folder: str = "hierarchies",
    roles: Mapping[str, Role] | None = None,
    input: Mapping[str, Any] | None = None,
) -> ProposedPolicy:
    """Propose a commented policy for a table, with hierarchies for its columns.

    Parameters
    ----------
    table
        Path of a file, or a polars, pandas or pyarrow table.
    k : int
        Smallest class size.
    folder : str
        Where the policy file expects its hierarchies, beside itself.
    roles : mapping, optional
        Roles that you have decided: column to role.
    input : mapping, optional
        How the file is read, as [input] of the policy says it: ``sheet``, ``skip_rows``, ``encoding`` and others.

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
    settings = Policy(input=dict(input or {}), privacy={"k": 2}, columns={"any": "quasi"}).input  # faults as sentences
    source = read_table(table, settings)
    frame = source.frame
    if frame.height < 2:
        raise DataError(f"{source.name}: has 1 record; nobody hides in a crowd of one.")
    tokens = _tokens(frame, settings)
    looks = with_marks_of_all({name: look_at(frame[name], tokens) for name in frame.columns})
    if far := _far_numbers(frame, looks):
        tokens = [*tokens, *far]
        looks = with_marks_of_all({name: look_at(frame[name], tokens) for name in frame.columns})
    given = roles or {}
    proposals = {name: _propose_column(look, given.get(name)) for name, look in looks.items()}
    sets = propose_sets(looks, proposals, given)
    person = person_of(frame, looks, proposals)
    if person is not None:
        withdraw_sets(proposals, sets)
        withdraw_lone(frame, person.name, looks, {n: one for n, one in proposals.items() if n not in given})
    if not any(proposal.role == "quasi" for proposal in proposals.values()):
        _propose_likeliest(frame, looks, proposals)
    quasi = [name for name, proposal in proposals.items() if proposal.role == "quasi" and name not in sets]
    for name, other in following(frame, quasi, looks).items():
        proposals[name].notes.append(f"follows from column {other!r}: one of the two is enough for most uses")
    trees = propose_trees(frame, looks, proposals, f"{folder}/", tokens)
    alone = [*singled_out(frame, quasi), *_shown(frame, proposals)]
    people = frame.height if person is None or person.unsure else looks[person.name].distinct
    k = max(2, min(k, people))
    text = policy_text(source.name, frame.height, k, Tokens(tokens, far), dict(input or {}), proposals, person, alone)
    doubts = {name: f"{one.role}: {one.reason}" for name, one in proposals.items() if one.unsure}
    proposed = ProposedPolicy(text, doubts, trees, folder, tuple(frame.columns))
    proposed.policy.check_columns(frame.columns)
    return proposed


def _tokens(frame: pl.DataFrame, settings: Input) -> list[str]:
    """Texts that stand for a missing value: those that are given, and known ones that occur; the empty one always."""
    known, found = pl.Series(MISSING_TOKENS).implode(), {""}
    for name in frame.columns:
        if frame[name].dtype == pl.String:
            found.update(frame[name].filter(frame[name].is_in(known)).unique())
    return list(dict.fromkeys((*settings.missing, *(token for token in MISSING_TOKENS if token in found))))


def _far_numbers(frame: pl.DataFrame, looks: Mapping[str, Look]) -> list[str]:
    """Numbers that stand for missing values, since they are far from all others of their columns."""
    texts = {name: frame[name].drop_nulls() for name in frame.columns if frame[name].dtype == pl.String}
    numbers = {
        name: look.plain.str.strip_chars().cast(pl.Float64, strict=False)
        for name, look in looks.items()
        if look.is_text and look.is_number and not look.is_of_days
    }
    return sentinels(numbers, {name: looks[name].values if name in numbers else texts[name] for name in texts})


def _propose_likeliest(frame: pl.DataFrame, looks: Mapping[str, Look], proposals: Mapping[str, Proposal]) -> None:
    """Make a column a quasi-identifier, as a policy needs one: the text or number with the fewest values."""
    name = min(frame.columns, key=lambda column: (looks[column].is_doubtful, frame[column].n_unique()))
    proposal = proposals[name]
    proposal.role, proposal.unsure = "quasi", True
    propose_generalization(proposal, looks[name])
    if proposal.role != "quasi":
        proposal.role, proposal.type, proposal.marks = "quasi", "string", None
    proposal.reason = "no column was recognised as one that an outsider may know; this has the fewest values"


def _shown(frame: pl.DataFrame, proposals: Mapping[str, Proposal]) -> list[str]:
    """How many records are found by what is published as it is, if these are not few."""
    found = _found_by(frame, proposals)
    if found <= 0.01:
        return []
    return [f"The sensitive columns are published as they are, and together single out {found:.0%} of the records."]


def _propose_column(look: Look, given: Role | None = None) -> Proposal:
    proposal = proposed_role(look)
    if given is not None:
        proposal.role, proposal.unsure, proposal.reason = given, False, "you decided"
    found = f"{look.distinct:,} distinct values" + (f", {look.missing:,} missing" if look.missing else "")
    if look.distinct > 1:
        found += f", which distinguish {separation(look.counts.to_numpy()):.0%} of all pairs of records"
    if look.alone >= 0.01:
        found += f"; {look.alone:.0%} of the records have one of their own"
    proposal.notes.append(found)
    if more := other_spellings(look.values):
        is_another = "is another spelling" if more == 1 else "are other spellings"
        proposal.notes.append(
            f"{more:,} of them {is_another} of a value (blanks, Unicode, case, numbers): promises count them as one"
        )
    if proposal.role == "quasi":
        propose_generalization(proposal, look)
    elif proposal.role == "sensitive" and look.is_text:
        propose_marks(proposal, look)
        proposal.notes.append("a hierarchy here would let similar values count as similar")
    return proposal


def _found_by(frame: pl.DataFrame, proposals: Mapping[str, Proposal]) -> float:
    """The share of records that are alone with their values in the columns that are published as they are."""
    shown = [name for name, proposal in proposals.items() if proposal.role in ("sensitive", "insensitive")]
    if not shown:
        return 0.0
    return float((frame.select(shown).group_by(shown).len().get_column("len") == 1).sum() / frame.height)
