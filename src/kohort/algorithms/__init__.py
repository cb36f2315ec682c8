"""Algorithms. One file each; a file in this folder that registers one is found by itself."""

from kohort.algorithms.base import ALGORITHMS, Algorithm, Clusterer
from kohort.common.callable import make_callable
from kohort.search.task import Task

ALGORITHMS.fill_from(__name__, __path__)
make_callable(__name__, "kohort.reports.catalogue")

__all__ = ["ALGORITHMS", "Algorithm", "Clusterer", "Task"]
