"""What a chart is: data in, SVG out, in colours that follow the page, and with words for who cannot see it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any, ClassVar

from kohort.common.registry import Registry
from kohort.errors import DataError
from kohort.reports.charts.ink import COLOURS, Colour
from kohort.reports.charts.svg import accessible

WIDTH, HEIGHT = 300, 150
"""Of the area of a plot: with its axes, a chart fits the narrowest phone, where it is not scaled down."""
FONT = 12


class Chart(ABC):
    """A picture of some figures. A chart is a frozen dataclass whose fields are its data."""

    name: ClassVar[str]
    title: str
    """What it shows, in a few words."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The same in sentences, for who cannot see it: its figures, or the most telling of them."""

    @abstractmethod
    def drawn(self) -> Any:
        """The chart of Altair."""

    @classmethod
    @abstractmethod
    def example(cls) -> Chart:
        """One with made-up figures, for tests and pages."""

    def svg(self, identity: str, *, alone: bool = False) -> str:
        """Render it.

        Parameters
        ----------
        identity : str
            Letters, digits and dashes that no other chart of the page has.
        alone : bool
            Whether it is a file of its own, and not part of a page that has the colours.
        """
        refuse_without_charts()
        import vl_convert

        drawing = vl_convert.vegalite_to_svg(json.dumps(_styled(self.drawn().to_dict())))
        return accessible(drawing, identity, self.title, self.description, alone=alone)


CHARTS: Registry[Chart] = Registry("chart")


def colour(name: Colour) -> str:
    """How a chart asks for a colour: a stand-in, which the page replaces by its light or dark form."""
    return COLOURS[name].stand_in


def library() -> Any:
    """Altair. It describes itself too loosely for strict types."""
    import altair

    return altair


def refuse_without_charts() -> None:
    """Refuse if the libraries of reports are not installed.

    Raises
    ------
    DataError
        Naming the extra.
    """
    try:
        for library in ("altair", "vl_convert", "jinja2"):
            import_module(library)
    except ImportError:
        raise DataError('report: its libraries are not installed; run: pip install "kohort[report]".') from None


def _styled(drawing: dict[str, Any]) -> dict[str, Any]:
    """One style for all charts: no frame, quiet lines, the colours of the page."""
    ink, line = colour("ink"), colour("line")
    label = {"labelColor": ink, "labelFontSize": FONT, "titleColor": ink, "titleFontSize": FONT}
    axis = {"domainColor": line, "tickColor": line, "gridColor": line, "gridOpacity": 0.5, "titleFontWeight": "normal"}
    drawing["config"] = {
        "background": None,
        "view": {"stroke": None},
        "axis": axis | label,
        "legend": {**label, "orient": "top", "title": None, "symbolType": "square"},
        "text": {"color": ink, "fontSize": FONT},
        "font": "sans-serif",
    }
    return drawing
