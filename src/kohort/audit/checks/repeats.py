"""Whether k counts records where somebody might take it for a count of persons."""

from __future__ import annotations

from kohort.audit.case import Case
from kohort.audit.verdict import Check
from kohort.audit.words import count

_NAMED = 3
"""Number of columns that are named, those with the most values first."""


def repeated_identifiers(case: Case) -> Check | None:
    """Say which dropped identifiers repeat, if the policy names none of them as the person.

    A column with fewer than k values is left out: it cannot distinguish k persons.
    """
    if case.original is None or case.policy.privacy.person is not None:
        return None
    there = [name for name in case.policy.having_role("identifier") if name in case.original.columns]
    found = {
        name: (different, rows)
        for name, (different, rows) in case.original.repeats(there).items()
        if case.policy.privacy.k <= different < rows
    }
    if not found:
        return None
    most = sorted(found, key=lambda name: found[name], reverse=True)[:_NAMED]
    which = " and ".join(
        f"column {name!r} ({count(found[name][0], 'value')} in {count(found[name][1], 'record')})" for name in most
    )
    sentence = (
        f"identifiers repeat: {which}. If one says who a record is about, a person has several records, and k counts "
        "records, not persons; name it as person in [privacy]."
    )
    return Check("repeats", True, sentence, {f"values.{name}": found[name][0] for name in most})
