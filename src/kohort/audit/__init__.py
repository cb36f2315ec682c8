"""The independent auditor, which says whether a file keeps the promise of its policy.

It re-reads what was written, by this library or any other tool, with its own reader, its own
grouping and its own understanding of published values. It shares no code with the algorithms
that make releases, so that a mistake there cannot vouch for itself.
"""

from kohort.audit.audit import examine, refuse_ledger, verify
from kohort.audit.read.csv import refuse_misread
from kohort.audit.read.stored import refuse_unequal
from kohort.audit.verdict import Check, Facts, Verdict

__all__ = ["Check", "Facts", "Verdict", "examine", "refuse_ledger", "refuse_misread", "refuse_unequal", "verify"]
