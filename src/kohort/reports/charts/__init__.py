"""Charts of reports: one file, one chart; Altair describes it, vl-convert renders it to SVG, offline."""

from kohort.reports.charts.base import CHARTS, Chart, refuse_without_charts

CHARTS.fill_from(__name__, __path__)

__all__ = ["CHARTS", "Chart", "refuse_without_charts"]
