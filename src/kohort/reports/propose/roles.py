"""Which role a column is proposed to have, and why.

Doubt goes the safe way. Published as it is (sensitive) is proposed only for a column whose name says so, whose values
are shared by many records, and that is no date, age, place, free text, name or number of a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kohort.policy.notation import Notation
from kohort.policy.sections import ColumnType, Role
from kohort.reports.propose.looks import Look
from kohort.reports.propose.publishable import doubt, is_known_name
from kohort.reports.propose.words import Kind, is_code_name, is_weight, kinds_of

_MANY = 0.2
"""From this share of a column's texts on that are of a kind that names people, all are taken for such."""
_FEW = 50
"""Most values of a published column that numbers somebody or something, and has a sensitive word in its name."""
_FEW_PEOPLE = 10
"""A coarse column with a word for people in its name numbers them if it has more values than these."""
_OF_PEOPLE = frozenset(
    (
        "account numbers",
        "social-security numbers",
        "numbers with check digits, as of people and accounts",
        "codes made by machines",
        "e-mail addresses",
        "telephone numbers",
        "long numbers, as of accounts and cards",
    )
)
"""Patterns of what says which records are of one person."""
NOT_RECOGNISED = "not recognised, so it is dropped until you decide"


@dataclass
class Proposal:
    """What is proposed for one column, and why."""

    role: Role
    reason: str
    unsure: bool = False
    type: ColumnType | None = None
    format: str | None = None
    marks: Notation | None = None
    """How its numbers are written, if that is to be said."""
    hierarchy: str | None = None
    separator: str | None = None
    """What stands between the items of a set."""
    notes: list[str] = field(default_factory=list)
    is_number_of_people: bool = False
    """Whether it may tell which records are of one person."""

    @property
    def has_file(self) -> bool:
        """Whether its hierarchy is a file of its own."""
        return self.hierarchy is not None and self.hierarchy.startswith('"')


def proposed_role(look: Look) -> Proposal:
    """The first rule that knows a column decides."""
    kinds = kinds_of(look.name)
    if is_known_name(look.name):
        kinds |= {"sensitive"}
    return next(proposal for proposal in _rules(look, kinds) if proposal is not None)


def _rules(look: Look, kinds: frozenset[Kind]) -> Iterator[Proposal | None]:
    """In this order: what must not go out comes before what may."""
    yield _empty(look)
    yield _pattern(look, kinds)
    yield _direct(look, kinds)
    yield _prose(look, kinds)
    yield _number(look, kinds)
    yield _survey_weight(look, kinds)
    yield _days(look, kinds)
    yield _quasi(look, kinds)
    yield _sensitive(look, kinds)
    yield _unknown(look)


def _empty(look: Look) -> Proposal | None:
    return None if look.distinct else Proposal("identifier", "it is empty, so it is dropped")


def _pattern(look: Look, kinds: frozenset[Kind]) -> Proposal | None:
    most = max(look.patterns, key=look.patterns.__getitem__, default=None)
    if most is None:
        return None
    share = look.patterns[most]
    is_place = is_code_name(look.name) and "quasi" in kinds and not kinds & {"direct", "person"}
    if is_place and most in ("telephone numbers", "long numbers, as of accounts and cards"):
        return None  # long postcodes
    if share >= _MANY:
        id_like = most in _OF_PEOPLE
        return Proposal("identifier", f"its cells look like {most}", is_number_of_people=id_like)
    if most == "names of people" and look.is_coarse and "quasi" in kinds and not kinds & {"direct", "person"}:
        return None  # a few names of schools or places, each of many records
    if most != "names of people" or share > 0.05:
        return Proposal("identifier", f"some of its cells look like {most}, so it is dropped", unsure=True)
    return None


def _direct(look: Look, kinds: frozenset[Kind]) -> Proposal | None:
    if "direct" not in kinds or look.is_of_days:  # a day names nobody
        return None
    is_of_things = look.is_coarse and kinds & {"sensitive", "quasi"} and look.name.lower().endswith(("name", "nom"))
    if is_of_things:  # the name of a drug or of a country
        return None
    coarse = look.is_coarse and look.distinct <= 20
    of_records = not look.is_measured and not look.is_coarse  # a few names are those of others: officers, doctors
    reason = "its name says that it names a person"
    return Proposal("identifier", reason, unsure=coarse, is_number_of_people=of_records)


def _prose(look: Look, kinds: frozenset[Kind]) -> Proposal | None:
    if look.is_prose:
        return Proposal("identifier", "free text, which almost always names people, so it is dropped")
    if "text" in kinds:
        return Proposal("identifier", "its name says that it is free text, so it is dropped", unsure=look.is_coarse)
    return None


def _number(look: Look, kinds: frozenset[Kind]) -> Proposal | None:
    """Numbers of people, records and things: found by their names, or since nearly every record has its own."""
    if "quasi" in kinds and is_code_name(look.name):  # the code of a place is not that of a person
        return None
    about = kinds & {"quasi", "date", "sensitive"}
    of_things = about - {"sensitive"} or look.distinct <= _FEW
    if kinds & {"number", "person"} and not look.is_of_days and (look.is_own or not about or not of_things):
        is_of_several = "person" in kinds and look.distinct > _FEW_PEOPLE and (look.is_number or look.is_code)
        of_people = not look.is_coarse or {"number", "person"} <= kinds or is_of_several
        what = "the number of somebody" if of_people else "a number of somebody or something"
        reason = f"its name says that it is {what}"
        counts = of_people and not look.is_measured
        return Proposal("identifier", reason, unsure=not of_people, is_number_of_people=counts)
    is_free = not look.is_of_days and not look.is_measured
    if look.is_own and is_free and not (about and (look.is_number or look.is_code)):
        return Proposal("identifier", "nearly every record has a value of its own")
    return None


def _survey_weight(look: Look, kinds: frozenset[Kind]) -> Proposal | None:
    if not look.is_number or not ("survey-weight" in kinds or (is_weight(look.name) and look.is_of_records)):
        return None
    reason = "a survey weight reveals the stratum, and often the person; round it before you publish it"
    return Proposal("identifier", reason, unsure=True)


def _days(look: Look, kinds: frozenset[Kind]) -> Proposal | None:
    known = "date" in kinds
    if look.is_of_days:
        if look.dates is not None and not look.dates.forms:
            reason = f"dates in several forms ({look.dates.unread:,} values differ), so it is dropped"
            return Proposal("identifier", reason, unsure=True)
        reason = "an outsider may know the date" if known else "a date of an event may be known to an outsider"
        return Proposal("quasi", reason, unsure=not known)
    if look.is_of_years or look.is_of_periods or known:
        if look.is_own and not look.is_of_periods and look.is_text and not look.is_number:
            return Proposal("identifier", "its name says that it is a date, its cells do not", unsure=True)
        return Proposal("quasi", "an outsider may know the time", unsure=not known)
    return None


def _quasi(look: Look, kinds: frozenset[Kind]) -> Proposal | None:
    if "quasi" not in kinds:
        return None
    if look.has_shape_of_names:
        return Proposal("identifier", "its cells may be names of people or firms, so it is dropped", unsure=True)
    return Proposal("quasi", "an outsider may know it")


def _sensitive(look: Look, kinds: frozenset[Kind]) -> Proposal | None:
    if "sensitive" not in kinds:
        return None
    why = f"{100 * look.alone:.0f} % of records have a value of their own" if look.singles_out else doubt(look)
    if why is None:
        unsure = bool(kinds & {"direct", "number"})
        return Proposal("sensitive", "its name says that it is what must not be learned about a person", unsure=unsure)
    return withdrawn(Proposal("sensitive", ""), look, why)


def withdrawn(proposal: Proposal, look: Look, why: str) -> Proposal:
    """The proposal, no longer to publish the column as it is."""
    proposal.role, proposal.unsure = ("quasi" if look.is_number else "identifier"), True
    done = "generalized, too" if look.is_number else "dropped"
    proposal.reason = f"sensitive by its name, but {why}; {done}"
    return proposal


def _unknown(look: Look) -> Proposal:
    return Proposal("identifier", NOT_RECOGNISED, unsure=True)
