"""How numbers or dates are distributed, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kohort.reports.charts.base import CHARTS, HEIGHT, WIDTH, Chart, colour, library


@CHARTS.register("histogram")
@dataclass(frozen=True)
class Histogram(Chart):
    """Filled bars for the release, and the outline of the original if it is there."""

    title: str
    edges: Sequence[float]
    """Ends of the bins, one more than there are bins."""
    labels: Sequence[str]
    """Of each bin."""
    after: Sequence[float]
    """Share of each bin."""
    before: Sequence[float] | None = None
    is_date: bool = False
    """Whether the edges are days since 1970."""

    @property
    def description(self) -> str:
        """The share of every bin."""
        shares = [f"{label}: {share:.0%}" for label, share in zip(self.labels, self.after, strict=True)]
        if self.before is not None:
            shares = [f"{one} (original {share:.0%})" for one, share in zip(shares, self.before, strict=True)]
        return "; ".join(shares) + "."

    def drawn(self) -> Any:
        """Bars as wide as their bins."""
        altair = library()
        edges = [edge * 86_400_000 for edge in self.edges] if self.is_date else list(self.edges)
        kind = "T" if self.is_date else "Q"
        scale = altair.Scale(domain=[edges[0], edges[-1]], nice=False, zero=False, **self._utc())
        axis = altair.Axis(grid=False, tickCount=5, labelOverlap=True, **({} if self.is_date else {"format": "~s"}))
        if not self.is_date and abs(edges[-1]) < 10_000:
            axis = altair.Axis(grid=False, tickCount=6, labelOverlap=True)
        x = altair.X(f"from:{kind}", scale=scale, title=None, axis=axis)
        zero = altair.Scale(zero=True, domainMin=0)
        y = altair.Y("share:Q", title="share of rows", scale=zero, axis=altair.Axis(format="%", tickCount=4))
        bins = list(pairwise(edges))
        names = ["original", "release"] if self.before is not None else ["release"]
        color = altair.Color(
            "series:N",
            scale=altair.Scale(domain=names, range=[colour("before"), colour("after")][-len(names) :]),
            legend=altair.Legend() if self.before is not None else None,
        )
        bars = (
            altair.Chart(altair.Data(values=_bars(bins, self.after)))
            .mark_rect(stroke=colour("paper"), strokeWidth=1)
            .encode(x=x, x2="to", y=y, y2=altair.datum(0), color=color)
        )
        chart = bars
        if self.before is not None:
            chart += (
                altair.Chart(altair.Data(values=_outline(bins, self.before)))
                .mark_line(interpolate="step-after", strokeWidth=2)
                .encode(x=x, y=y, color=color)
            )
        return chart.properties(width=WIDTH, height=HEIGHT)

    def _utc(self) -> dict[str, str]:
        return {"type": "utc"} if self.is_date else {}

    @classmethod
    def example(cls) -> Histogram:
        """Ages."""
        return cls("Ages", [20, 40, 60, 80], ["20-40", "40-60", "60-80"], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2])


def _bars(bins: Sequence[tuple[float, float]], shares: Sequence[float]) -> list[dict[str, Any]]:
    return [
        {"from": low, "to": high, "share": share, "series": "release"}
        for (low, high), share in zip(bins, shares, strict=True)
    ]


def _outline(bins: Sequence[tuple[float, float]], shares: Sequence[float]) -> list[dict[str, Any]]:
    points = [{"from": low, "share": share} for (low, _), share in zip(bins, shares, strict=True)]
    points.append({"from": bins[-1][1], "share": shares[-1]})
    return [{**point, "series": "original"} for point in points]
