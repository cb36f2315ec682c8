"""The ledger: what earlier releases of a table showed, so that the next one can be checked against them.

It holds what an outsider has who kept every release, and nothing else: the published descriptions and the
sensitive values of each class, hashes and counts. So it is as confidential as the releases themselves.
"""

from kohort.audit.ledger.book import Recording, drop_pending, recording
from kohort.audit.ledger.file import read_ledger, read_or_new
from kohort.audit.ledger.format import ClassShown, Entry, Ledger, People, QuasiColumn, RecordsShown, Shown
from kohort.audit.ledger.persons import PersonKey, refuse_other_persons

__all__ = [
    "ClassShown",
    "Entry",
    "Ledger",
    "People",
    "PersonKey",
    "QuasiColumn",
    "Recording",
    "RecordsShown",
    "Shown",
    "drop_pending",
    "read_ledger",
    "read_or_new",
    "recording",
    "refuse_other_persons",
]
