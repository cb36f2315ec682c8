"""Loss measures: each compiles to cost tables, and measures the loss of a release.

One file per measure; a file in this folder that registers a measure is found by itself.
"""

from kohort.common.callable import make_callable
from kohort.measures.base import MEASURES, Measure

MEASURES.fill_from(__name__, __path__)
make_callable(__name__, "kohort.reports.catalogue")

__all__ = ["MEASURES", "Measure"]
