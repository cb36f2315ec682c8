"""The experiments of papers, run again: claims, runs, verdicts, figures and a page.

One file per paper; a file in this folder that registers a paper is found by itself.
"""

from kohort.reports.reproduce.base import PAPERS
from kohort.reports.reproduce.report import reproduce

PAPERS.fill_from(__name__, __path__)

__all__ = ["PAPERS", "reproduce"]
