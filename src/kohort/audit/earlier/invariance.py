"""m-invariance (Xiao and Tao 2007): a person who is released again has the same signature as before.

The signature of a person is the set of sensitive values that the person's class shows. If it is the same in
every release, all of them together leave the values that each leaves. Only the maker knows who is who, so this
needs the original, the order of the rows and a key.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kohort.audit.earlier.shown import Literal, Sight
from kohort.audit.ledger import Entry, People, PersonKey, refuse_other_persons
from kohort.audit.meaning.spelling import persons, sensitive_values
from kohort.audit.verdict import Check
from kohort.audit.words import count
from kohort.errors import DataError

if TYPE_CHECKING:
    from kohort.audit.case import LoadedCase


def people_of(case: LoadedCase, sight: Sight, key: PersonKey) -> People:
    """Find the person of every released row, and the signature of each.

    Raises
    ------
    DataError
        When a record does not say whose it is, or it is not known whose it is; or when the ledger knows persons by
        another column or key.
    """
    assert case.original is not None
    assert case.ledger is not None
    refuse_other_persons(case.ledger.releases, key)
    if not case.order_known:
        raise DataError(f"persons cannot be recognised, as {case.order_unknown}.")
    release, person = case.release, f"o_{case.original.columns[key.column]}"
    classes = ", ".join(f"release.{release.literal(name)}" for name in case.policy.quasi_identifiers)
    found = release.database.rows(
        f"SELECT DISTINCT {person}, {classes} FROM release JOIN paired ON paired.released = release.rowid"
    )
    sensitive_of, same = _sensitive_of(case, sight), persons(case.policy)
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for text, *literal in found:
        name = same(text)
        if name is None:
            raise DataError(f"original: column {key.column!r} names the person, and some records miss it; complete it.")
        shown[name].add(sensitive_of[tuple(literal)])
    # in the order of the hashes, which says nothing about who is who
    signatures = sorted((key.person(name), key.signature(theirs)) for name, theirs in shown.items())
    return People(column=key.column, key=key.name, signatures=dict(signatures))


def is_comparable(entry: Entry, sight: Sight) -> bool:
    """Whether an earlier release records who was in it, and a signature means the same in both."""
    return entry.people is not None and entry.shown.sensitive == sight.shown.sensitive


def invariance(case: LoadedCase) -> Check | None:
    """Ask whether everybody who was released before has the same signature as then, if persons are recognised."""
    sight, people = case.sight, case.people
    if case.ledger is None or sight is None or people is None:
        return None
    return _invariance(people, [entry for entry in case.ledger.releases if is_comparable(entry, sight)])


def _invariance(people: People, earlier: Sequence[Entry]) -> Check:
    again: set[str] = set()
    changed: set[str] = set()
    for entry in earlier:
        before = entry.people.signatures if entry.people is not None else {}
        both = people.signatures.keys() & before.keys()
        again |= both
        changed |= {person for person in both if people.signatures[person] != before[person]}
    figures = {
        "releases": len(earlier),
        "persons": len(people.signatures),
        "persons_again": len(again),
        "persons_changed": len(changed),
    }
    everybody, releases = count(len(people.signatures), "person"), count(len(earlier), "earlier release")
    of = f"{len(again):,} of {everybody} {'was' if len(again) == 1 else 'were'} in {releases}"
    if not again:
        sentence = f"none of {everybody} was in {releases}" if earlier else "the ledger has no earlier release"
    elif not changed:
        sentence = f"{of}, and each is in a class with the same sensitive values as then"
    else:
        are = "is" if len(changed) == 1 else "are"
        sentence = (
            f"{of}, and {len(changed):,} {are} not in a class with the same sensitive values as then; leave their "
            "classes as they were, or release new persons only (invented records could fill the classes up, and "
            "kohort invents none)"
        )
    return Check("m-invariance", not changed, f"{sentence}.", figures)


def _sensitive_of(case: LoadedCase, sight: Sight) -> dict[Literal, str]:
    """What each class shows, as a text that is the same for the same values."""
    policy, names = case.policy, sight.shown.sensitive
    canonical = [sensitive_values(policy, name) for name in names]
    found = {}
    for literal, one in zip(sight.literals, sight.shown.classes, strict=True):
        sensitive_of = {
            json.dumps([_text(same(text)) for same, text in zip(canonical, group.values, strict=True)])
            for group in one.records
        }
        found[literal] = json.dumps([names, sorted(sensitive_of)])
    return found


def _text(value: Any) -> list[str | None]:
    if value is None:
        return [None]
    if isinstance(value, Decimal):
        return ["number", str(value.normalize())]
    return [type(value).__name__, str(value)]
