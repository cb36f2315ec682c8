"""The report of a release: sections of findings, as one offline page and as JSON, for everybody or for its steward."""

from kohort.reports.report.document import Report
from kohort.reports.report.make import report

__all__ = ["Report", "report"]
