"""Propose a policy for a table: roles, types and hierarchies, each with its reason.

Nothing is published silently: a column that is not recognised is proposed as an identifier,
which drops it, and marked UNSURE for the steward to decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from kohort.errors import DataError
from kohort.policy import Column, Policy
from kohort.policy.faults import toml_key
from kohort.policy.sections import ColumnType, Role
from kohort.table import read_table
from kohort.table.spelling import other_spellings
from kohort.table.types import infer

MISSING_TOKENS = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-", ".")

_NAMES: tuple[tuple[Role, str, tuple[str, ...]], ...] = (
    ("identifier", "its name says that it names a person", (
        "name", "firstname", "lastname", "surname", "forename", "email", "mail", "phone", "telephone", "mobile",
        "fax", "ssn", "passport", "address", "street", "iban", "account", "mrn", "id", "uuid", "guid", "url", "ip",
        "licence", "license", "plate", "username", "login",
    )),
    ("sensitive", "its name says that it is what must not be learned about a person", (
        "diagnosis", "disease", "icd", "icd9", "icd10", "hiv", "drug", "medication", "condition", "salary", "income",
        "cost", "costs", "charge", "charges", "wage", "result", "treatment", "procedure", "debt", "verdict",
    )),
    ("quasi", "an outsider may know it", (
        "age", "birth", "birthdate", "birthday", "dob", "born", "sex", "gender", "zip", "zipcode", "postcode",
        "postal", "plz", "race", "ethnicity", "ethnic", "education", "marital", "occupation", "job", "profession",
        "country", "nationality", "citizenship", "city", "town", "state", "county", "region", "religion",
        "language", "workclass", "admission", "discharge", "visit", "height", "weight", "household", "employer",
    )),
)  # fmt: skip


@dataclass
class Proposal:
    """What is proposed for one column, and why."""

    role: Role
    reason: str
    unsure: bool = False
    type: ColumnType | None = None
    hierarchy: str | None = None
    notes: list[str] = field(default_factory=list)


def propose(table: Any, *, k: int = 10) -> str:
    """Propose a commented policy file for a table.

    Parameters
    ----------
    table
        Path of a CSV or Parquet file, or a polars, pandas or pyarrow table.
    k : int
        Smallest class size.

    Returns
    -------
    str
        TOML text; a policy that is valid for the table. No cell value is in it.
    """
    source = read_table(table)
    frame = source.frame
    if frame.height < 2:
        raise DataError(f"{source.name}: has 1 record; nobody hides in a crowd of one.")
    tokens = [""] + [token for token in MISSING_TOKENS[1:] if _occurs(frame, token)]
    proposals = {name: _propose_column(frame[name], tokens) for name in frame.columns}
    if not any(proposal.role == "quasi" for proposal in proposals.values()):
        # A policy needs a quasi-identifier; the likeliest is the text or number with the fewest values.
        name = min(frame.columns, key=lambda column: frame[column].n_unique())
        proposals[name].role, proposals[name].unsure = "quasi", True
        proposals[name].reason = "no column was recognised as one that an outsider may know; this has the fewest values"
    text = _render(source.name, frame.height, k, tokens, proposals)
    Policy.from_toml(text).check_columns(frame.columns)
    return text


def _occurs(frame: pl.DataFrame, token: str) -> bool:
    return any((frame[name] == token).any() for name, dtype in frame.schema.items() if dtype == pl.String)


def _propose_column(series: pl.Series, tokens: list[str]) -> Proposal:
    if series.dtype == pl.String:
        series = series.set(series.is_in(pl.Series(tokens).implode()).fill_null(value=False), None)
    values = series.drop_nulls()
    distinct = values.n_unique()
    proposal = _role(series.name, values, distinct)
    missing = len(series) - len(values)
    proposal.notes.append(f"{distinct:,} distinct values" + (f", {missing:,} missing" if missing else ""))
    if more := other_spellings(values):
        is_another = "is another spelling" if more == 1 else "are other spellings"
        proposal.notes.append(
            f"{more:,} of them {is_another} of a value (blanks, Unicode, case, numbers): promises count them as one"
        )
    if proposal.role == "quasi":
        _propose_generalization(proposal, series, values, distinct)
    elif proposal.role == "sensitive" and series.dtype == pl.String:
        proposal.notes.append("a hierarchy here would let similar values count as similar")
    return proposal


def _role(name: str, values: pl.Series, distinct: int) -> Proposal:
    words = re.findall(r"[a-z]+[0-9]*", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    for role, reason, known in _NAMES:
        if any(word in known for word in [*words, "".join(words)]):
            return Proposal(role, reason)
    if len(values) >= 20 and distinct > 0.95 * len(values) and not values.dtype.is_float():
        return Proposal("identifier", "nearly every record has a value of its own")
    if values.dtype in (pl.Date, pl.Datetime) or (
        values.dtype == pl.String and infer(values, Column(role="quasi")) == "date"
    ):
        return Proposal("quasi", "a date of an event may be known to an outsider", unsure=True)
    return Proposal("identifier", "not recognised, so it is dropped until you decide", unsure=True)


def _propose_generalization(proposal: Proposal, series: pl.Series, values: pl.Series, distinct: int) -> None:
    if series.dtype == pl.String:
        proposal.type = infer(series, Column(role="quasi"))
    if proposal.type != "string":
        proposal.notes.append("generalized to intervals of its own values; a hierarchy of intervals makes them fixed")
        return
    lengths = values.str.len_chars()
    length = int(lengths.max() or 0)  # type: ignore[arg-type]
    if distinct > 1 and lengths.min() == length and 4 <= length <= 10 and values.str.contains(r"^[0-9]+$").all():
        keep = sorted({length, 3, 2}, reverse=True)
        proposal.hierarchy = f"{{ prefix = {keep} }}"
        proposal.notes.append("codes of one length: generalized by masking their last digits")
    elif distinct > 2:
        proposal.notes.append(
            "kept or *, until you give a hierarchy: `kohort hierarchy check` reads ARX csv and nested toml"
        )


def _render(source: str, rows: int, k: int, tokens: list[str], proposals: dict[str, Proposal]) -> str:
    unsure = sum(proposal.unsure for proposal in proposals.values())
    lines = [
        f"# Policy proposed for {source} ({rows:,} records). Read every line: you decide, kohort only proposes.",
        "# Roles: identifier = dropped; quasi = generalized, an outsider may know it; sensitive = published, must not",
        "# be learned about a person; insensitive = published as it is.",
    ]
    if unsure:
        lines.append(f"# UNSURE marks {unsure} of {len(proposals)} columns: search for the word and decide.")
    listed = ", ".join(f'"{token}"' for token in tokens)
    lines += [
        "",
        "[input]",
        f"missing = [{listed}]",
        "",
        "[privacy]",
        f"k = {min(k, rows)}  # every published combination is shared by at least k records",
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
        if proposal.hierarchy:
            lines.append(f"hierarchy = {proposal.hierarchy}")
    return "\n".join(lines) + "\n"
