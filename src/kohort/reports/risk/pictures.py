"""Charts of risk."""

from __future__ import annotations

from kohort.reports.charts import Chart
from kohort.reports.charts.bars import Bars
from kohort.reports.charts.class_sizes import ClassSizes
from kohort.reports.risk.attackers import THRESHOLDS
from kohort.reports.risk.exposure import Exposure
from kohort.reports.risk.result import Risk

_MOST = 12
"""Columns of a chart."""


def charts_of(risk: Risk, *, private: bool) -> list[Chart]:
    """How large classes are, how many records are at risk, and which columns distinguish people; before and after."""
    before = risk.original if private else None
    charts: list[Chart] = []
    if before is not None and before.quasi.sizes:
        title = "Records of the original by the size of their class"
        charts.append(ClassSizes(before.quasi.histogram, risk.k or 1, title))
    if risk.file.quasi.sizes:
        charts.append(ClassSizes(risk.file.quasi.histogram, risk.k or 1))
    charts.append(_at_risk(risk.file, before))
    charts.append(_telling(risk.file, before))
    return charts


def _at_risk(file: Exposure, before: Exposure | None) -> Chart:
    series = {"original": before, "release": file} if before is not None else {"": file}
    shares = {name: [one.quasi.prosecutor.above[level] for level in THRESHOLDS] for name, one in series.items()}
    things = [f"above {level}" for level in THRESHOLDS]
    return Bars("Share of records at risk, by threshold", things, shares, most=1.0)


def _telling(file: Exposure, before: Exposure | None) -> Chart:
    columns = sorted(file.columns, key=lambda column: -column.separation)[:_MOST]
    names = [column.name for column in columns]
    series = {"": [column.separation for column in columns]}
    if before is not None:
        known = {column.name: column.separation for column in before.columns}
        series = {"original": [known.get(name, 0.0) for name in names], "release": series[""]}
    return Bars("Share of pairs of people that a column distinguishes", names, series, most=1.0)
