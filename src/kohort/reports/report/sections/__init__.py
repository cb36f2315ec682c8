"""The sections of a report: one file, one section; found by themselves."""

from kohort.reports.report.section import SECTIONS

SECTIONS.fill_from(__name__, __path__)

__all__ = ["SECTIONS"]
