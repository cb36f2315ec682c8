"""Charts of utility: the loss by column, the distributions before and after, what is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kohort.reports.charts import Chart
from kohort.reports.charts.bars import Bars
from kohort.reports.charts.dumbbell import Dumbbell, Success
from kohort.reports.charts.histogram import Histogram
from kohort.reports.utility.shown import Shown

if TYPE_CHECKING:
    from kohort.reports.utility.utility import PrivateUtility, PublicUtility

MOST_COLUMNS = 30
"""Of a wide table, the distributions of the columns that lose most."""


def pictures(public: PublicUtility, private: PrivateUtility | None) -> list[Chart]:
    """Every chart; those of the original if what is private is given."""
    shares = (private or public).shares
    distributions = {one.column: one for one in (private or public).distributions}
    worst = sorted(shares, key=lambda name: -shares[name])
    charts: list[Chart] = [
        Bars("Share of the loss", worst[:MOST_COLUMNS], {"": [shares[name] for name in worst[:MOST_COLUMNS]]})
    ]
    charts += [of_column(distributions[name]) for name in worst[:MOST_COLUMNS] if name in distributions]
    tried = [
        Success(one.target, one.release.value, one.release.low, one.release.high, one.baseline.value)
        for one in (() if private is None else private.learned)
        if one.task == "category"
    ]
    if not tried:
        return charts
    marks = {"dot": "a model of the release", "tick": "the most frequent value"}
    return [*charts, Dumbbell("How often values are predicted right", tried, **marks)]


def of_column(one: Shown) -> Chart:
    """The distribution of a column."""
    if one.edges is not None:
        return Histogram(one.column, one.edges, one.labels, one.release, one.original, is_date=one.kind == "date")
    series = {"release": one.release} if one.original is None else {"original": one.original, "release": one.release}
    return Bars(one.column, one.labels, series)
