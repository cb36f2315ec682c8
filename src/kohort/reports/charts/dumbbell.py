"""How often something succeeds, with its interval, beside how often it would by chance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kohort.reports.charts.bars import told_apart
from kohort.reports.charts.base import CHARTS, WIDTH, Chart, colour, library
from kohort.reports.words import percent

_ROW = 24


@dataclass(frozen=True)
class Success:
    """One thing that was tried."""

    name: str
    value: float
    low: float
    high: float
    control: float | None = None
    """How often it succeeds without what is examined; None if there is nothing to compare with."""


@CHARTS.register("dumbbell")
@dataclass(frozen=True)
class Dumbbell(Chart):
    """A dot with its interval for each thing, and a tick where its control is."""

    title: str
    tried: Sequence[Success]
    dot: str = "success"
    tick: str = "by chance"
    """What the two marks are, for the legend."""

    @property
    def description(self) -> str:
        """Every success with its control."""
        return "; ".join(map(self._said, self.tried)) + "."

    def _said(self, one: Success) -> str:
        control = "" if one.control is None else f", {self.tick} {percent(one.control)}"
        return f"{one.name}: {percent(one.value)}{control}"

    def drawn(self) -> Any:
        """Dots on a line from 0 to 100 %."""
        altair = library()
        names = told_apart([one.name for one in self.tried])
        values = [vars(one) | {"name": name} for one, name in zip(self.tried, names, strict=True)]
        data = altair.Data(values=values)
        y = altair.Y("name:N", sort=names, title=None, axis=altair.Axis(labelLimit=150, ticks=False, domain=False))
        axis = altair.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1], labelFlush=True)
        x = altair.X("value:Q", title=None, scale=altair.Scale(domain=[0, 1]), axis=axis)
        base = altair.Chart(data).encode(y=y)
        marks = [self.dot, self.tick]
        scale = altair.Scale(domain=marks, range=[colour("after"), colour("before")])
        color = altair.Color(
            "mark:N", scale=scale, legend=altair.Legend(symbolType="circle", symbolStrokeWidth=0, symbolOpacity=1)
        )
        spread = base.mark_rule(strokeWidth=2, color=colour("after"), opacity=0.6).encode(x="low:Q", x2="high:Q")
        dots = base.transform_calculate(mark=_quoted(self.dot)).mark_point(filled=True, size=70, opacity=1)
        ticks = base.transform_filter("isValid(datum.control)").transform_calculate(mark=_quoted(self.tick))
        ticks = ticks.mark_tick(thickness=3, size=14).encode(x=altair.X("control:Q"), color=color)
        drawn = spread + ticks + dots.encode(x=x, color=color)
        return drawn.properties(width=WIDTH - 100, height=_ROW * max(len(names), 2))

    @classmethod
    def example(cls) -> Dumbbell:
        """Two attacks."""
        return cls("Attacks", [Success("linkage", 0.08, 0.05, 0.12, 0.01), Success("inference", 0.6, 0.55, 0.65, 0.58)])


def _quoted(text: str) -> str:
    """A text in the language of expressions."""
    return json.dumps(text)
