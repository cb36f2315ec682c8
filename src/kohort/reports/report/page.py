"""The report as one HTML file: everything is in it, nothing is asked of anywhere else, and every text is escaped."""

from __future__ import annotations

import re
from typing import Any

from kohort.common.html import visible
from kohort.reports.charts import refuse_without_charts
from kohort.reports.charts.ink import style
from kohort.reports.report.document import Report

_FIGURE = re.compile(r"(under |over )?-?[\d,.]*( %)?( \(.* %\))?")
_TONES = {"plain": "", "good": "✓", "bad": "✗", "note": "!"}
_SPOKEN = {"plain": "", "good": "holds", "bad": "does not hold", "note": "note"}


def page(report: Report) -> str:
    """Write the page."""
    refuse_without_charts()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("kohort.reports.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.tests["match"] = lambda text, pattern: re.fullmatch(pattern, text) is not None
    css = environment.loader.get_source(environment, "report.css")[0]  # type: ignore[union-attr]
    text = environment.get_template("report.html").render(
        report=report,
        css=style() + css,
        is_figures=_is_figures,
        tone={"verified": "good", "not verified": "bad", "not decided": "note"}[report.status],
        tones=_TONES,
        spoken=_SPOKEN,
    )
    return text + "\n"


def _visible(value: Any) -> Any:
    """A text as it is shown; what a chart has drawn is ready."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return visible(value).replace(" %", "\N{NARROW NO-BREAK SPACE}%")


def _is_figures(rows: tuple[tuple[str, ...], ...], place: int) -> bool:
    """Whether a column of a table holds figures, which stand below each other by their last digit."""
    cells = [row[place] for row in rows]
    return any(cells) and all(_FIGURE.fullmatch(cell) for cell in cells)
