"""Figures about the classes of a release: sizes, diversity, what a model could learn from them.

One file per figure; a file in this folder that registers a figure is found by itself.
"""

from kohort.measures.figures.base import FIGURES, Figure, Partition

FIGURES.fill_from(__name__, __path__)

__all__ = ["FIGURES", "Figure", "Partition"]
