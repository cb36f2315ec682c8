"""How the quasi-identifiers of a proposed policy are generalized: types, formats of dates, and hierarchies."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import polars as pl

from kohort.policy.faults import toml_text
from kohort.policy.formats import latest_year
from kohort.policy.hierarchy.suggest import Suggestion
from kohort.reports.propose.looks import Look
from kohort.reports.propose.roles import Proposal
from kohort.reports.propose.trees import tree_of


def propose_generalization(proposal: Proposal, look: Look) -> None:
    """The type of a column and, if its values alone say so, what they are generalized to."""
    propose_marks(proposal, look)
    if proposal.role != "quasi":
        return
    proposal.type = "string" if look.is_code_by_name else look.type
    if proposal.type == "string" and look.type != "string":
        proposal.marks = None
        proposal.notes.append("digits of a code, by its name or its gaps; if these are numbers, change the type")
    if look.dates is not None:
        proposal.type = "date"
        _propose_format(proposal, look.dates.forms)
    if proposal.type != "string":
        proposal.notes.append("generalized to intervals of its own values; a hierarchy of intervals makes them fixed")
        return
    values = look.values.cast(pl.String)
    lengths = values.str.len_chars()
    length = int(lengths.max() or 0)  # type: ignore[arg-type]
    if look.distinct > 1 and lengths.min() == length and 4 <= length <= 10 and values.str.contains(r"^[0-9]+$").all():
        proposal.hierarchy = f"{{ prefix = {list(range(length, 0, -1))} }}"
        proposal.notes.append("codes of one length: generalized by masking their last digits")


def propose_marks(proposal: Proposal, look: Look) -> None:
    """How the numbers of a column are written; one that can be read in two ways is dropped, or left to the steward."""
    if look.marks is None or look.dates is not None or not (look.is_number or look.is_doubtful):
        return
    if not look.is_doubtful:
        if look.notation is not None:
            proposal.type, proposal.marks = look.type, look.notation
            proposal.notes.append(f"numbers {look.notation.words}: {look.marks.evidence}")
        return
    ways = " or ".join(f"numbers {notation.words}" for notation in look.marks.readings)
    proposal.unsure = True
    proposal.notes.append(f"{look.marks.evidence}: {ways}")
    if look.notation is not None:
        proposal.type, proposal.marks = look.type, look.notation
        proposal.reason += "; its numbers are read as those of the other columns: say whether that is right"
    elif proposal.role == "quasi":
        proposal.role = "identifier"
        proposal.reason = "its numbers can be read in two ways, so it is dropped until you say decimal or thousands"


def _propose_format(proposal: Proposal, forms: tuple[str, ...]) -> None:
    """The format that all dates have; if day and month could be exchanged, the steward has to say."""
    first, *others = forms
    if first != "%Y-%m-%d":
        proposal.format = first
    if others:
        proposal.unsure = True
        proposal.reason = f"dates that could also be read as {others[0]}: say which"
    elif (latest := latest_year(first)) is not None:
        proposal.unsure = True
        proposal.reason = f"years of two digits are read as {latest - 99} to {latest}: say the latest in format"


def propose_trees(
    frame: pl.DataFrame,
    looks: Mapping[str, Look],
    proposals: Mapping[str, Proposal],
    folder: str,
    tokens: Sequence[str],
) -> dict[str, Suggestion]:
    """Give every quasi-identifier of texts a hierarchy file; the trees by the names of the files."""
    quasi = [name for name, proposal in proposals.items() if proposal.role == "quasi"]
    missing = pl.Series(tokens, dtype=pl.String).implode()
    known = pl.DataFrame([_known(frame[name], missing, looks[name]) for name in quasi])
    trees: dict[str, Suggestion] = {}
    for name in quasi:
        proposal = proposals[name]
        if proposal.type != "string" or proposal.hierarchy is not None or looks[name].distinct < 3:
            continue
        found = tree_of(known, name, [other for other in quasi if other != name])
        if found is None:
            proposal.notes.append("kept or *, until you give a hierarchy: see `kohort hierarchy suggest`")
            continue
        file = file_name(name, trees)
        trees[file] = found
        proposal.hierarchy = toml_text(f"{folder}{file}")
        proposal.notes.append(f"hierarchy: {found.reason}")
    return trees


def _known(series: pl.Series, missing: pl.Series, look: Look) -> pl.Series:
    """A column with null where a value is missing, and codes and flags as texts."""
    if series.dtype == pl.String:
        return series.set(series.is_in(missing).fill_null(value=False), None)
    return series.cast(pl.String) if series.dtype == pl.Boolean or look.is_code_by_name else series


def file_name(column: str, taken: Collection[str] = ()) -> str:
    """A file for a column: its name, as far as every system of files takes it."""
    plain = re.sub(r"[^\w-]+", "_", column).strip("_")[:60] or "column"
    names = (f"{plain}{number or ''}.csv" for number in range(len(taken) + 1))
    return next(name for name in names if name.lower() not in {other.lower() for other in taken})
