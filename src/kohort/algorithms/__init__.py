"""Algorithms. One file each; a file in this folder that registers one is found by itself."""

from kohort.algorithms.base import ALGORITHMS, Algorithm, Clusterer, Task
from kohort.registry import load_modules

load_modules(__name__, __path__)

__all__ = ["ALGORITHMS", "Algorithm", "Clusterer", "Task"]
