"""The sections of a report: one file, one section; found by themselves."""

from kohort.common.registry import load_modules
from kohort.reports.report.section import SECTIONS

load_modules(__name__, __path__)

__all__ = ["SECTIONS"]
