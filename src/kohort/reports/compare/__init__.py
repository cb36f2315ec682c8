"""Algorithms, class sizes, models and seeds side by side: what each risks, and what it loses."""

from kohort.reports.compare.cells import Cell, asked_for
from kohort.reports.compare.comparison import Comparison, compare
from kohort.reports.compare.outcomes import Outcome, Outcomes

__all__ = ["Cell", "Comparison", "Outcome", "Outcomes", "asked_for", "compare"]
