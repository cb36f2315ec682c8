"""Small ledgers for the tests."""

from __future__ import annotations

from kohort.audit.ledger import ClassShown, Entry, Ledger, QuasiColumn, RecordsShown, Shown

CANARY = "SECRETCELL42"


def shown(value=CANARY):
    """A release of one class of two."""
    return Shown(
        rows=2,
        missing="own-value",
        quasi=(QuasiColumn(name="town", kind="text"),),
        sensitive=("ill",),
        classes=(ClassShown(description=(CANARY,), records=(RecordsShown(count=2, values=(value,)),)),),
    )


def entry(previous="", value=CANARY, people=None):
    facts = {"date": "2026-01-01T00:00:00Z", "release": "a" * 64, "policy": "b" * 64}
    return Entry.sealed(previous, shown(value), people, **facts).published()


def ledger(releases=3):
    """Several of them."""
    made = Ledger()
    for number in range(releases):
        made = made.with_last(entry(made.last_seal, f"{CANARY}-{number}"))
    return made
