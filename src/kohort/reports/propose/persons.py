"""Who a record is about: the column that says so where a person has several records, and what only one person has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from kohort.reports.propose.levels import propose_generalization
from kohort.reports.propose.looks import Look
from kohort.reports.propose.roles import Proposal, withdrawn
from kohort.reports.propose.words import is_lasting, is_of_others, kinds_of

_SEVERAL = 20
"""Number of values that must repeat before anything is concluded from what they have in common."""
_LONE = 0.1
_OFTEN = 0.9
"""Of numbers that repeat, one with more different values than this share of its records may repeat by chance."""


class Person(NamedTuple):
    """The column that says which records are of one person."""

    name: str
    reason: str
    unsure: bool = False


def person_of(frame: pl.DataFrame, looks: Mapping[str, Look], proposals: Mapping[str, Proposal]) -> Person | None:
    """The identifier that repeats and numbers people: by its name or shape, else by what is the same in its records."""
    dropped = [name for name, one in proposals.items() if one.role == "identifier"]
    repeating = [name for name in dropped if _repeats(looks[name])]
    people = [looks[name] for name in dropped if "person" in kinds_of(name)]
    if any(not look.missing and look.distinct == len(look.values) for look in people):
        return None  # somebody has numbered the people, and each has one record: names repeat by chance
    numbers = [name for name in repeating if proposals[name].is_number_of_people and _may_be_people(looks[name])]
    of_people = [name for name in numbers if "person" in kinds_of(name)]
    often = [name for name in numbers if looks[name].distinct <= _OFTEN * len(looks[name].values)]  # not by chance
    if found := max(of_people or often or numbers, key=lambda name: looks[name].distinct, default=None):
        several = sum(proposal.is_number_of_people for proposal in proposals.values()) > 1 or found not in often
        return Person(found, "its values repeat, so a person has several records: k counts persons", several)
    lasting = [name for name, one in proposals.items() if one.role == "quasi" and is_lasting(name)]
    nameless = (name for name in repeating if not looks[name].patterns.get("names of people"))  # names tell the sex
    found = next((name for name in nameless if any(_has_one(frame, name, other) for other in lasting)), None)
    return None if found is None else Person(found, "records with one value of it agree in sex or birth", unsure=True)


def _may_be_people(look: Look) -> bool:
    """Whether a number of somebody may be that of whom the records are about, who are more than a few."""
    kinds = kinds_of(look.name)
    if is_of_others(look.name):
        return {"person", "number"} <= kinds
    return "person" in kinds or look.distinct >= _SEVERAL


def _repeats(look: Look) -> bool:
    return not look.missing and 2 <= look.distinct < 0.999 * len(look.values)


def _has_one(frame: pl.DataFrame, name: str, other: str) -> bool:
    """Whether all records with a value of a column have one value of another, which by chance would differ."""
    found = frame.group_by(name).agg(pl.len(), pl.col(other).n_unique().alias("different"))
    several = found.filter(pl.col("len") > 1)
    return frame[other].n_unique() > 1 and several.height >= _SEVERAL and bool((several["different"] == 1).all())


def withdraw_lone(
    frame: pl.DataFrame, person: str, looks: Mapping[str, Look], proposals: Mapping[str, Proposal]
) -> None:
    """Propose no column as published as it is in which many persons have a value that no other person has."""
    for name, proposal in proposals.items():
        if proposal.role not in ("sensitive", "insensitive"):
            continue
        pairs = frame.select(pl.col(person).alias("who"), pl.col(name).alias("what")).drop_nulls().unique()
        lone = pairs.filter(pl.len().over("what") == 1)["who"].n_unique()
        share = lone / max(1, pairs["who"].n_unique())
        if share > _LONE:
            withdrawn(proposal, looks[name], f"{100 * share:.0f} % of the persons have a value that no other has")
            if looks[name].is_number:
                propose_generalization(proposal, looks[name])
