"""How often something succeeds, with its interval, beside how often it would by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kohort.reports.charts.bars import told_apart
from kohort.reports.charts.base import CHARTS, WIDTH, Chart, colour, library

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

    @property
    def description(self) -> str:
        """Every success with its control."""
        return (
            "; ".join(
                f"{one.name}: {one.value:.1%}" + ("" if one.control is None else f", control {one.control:.1%}")
                for one in self.tried
            )
            + "."
        )

    def drawn(self) -> Any:
        """Dots on a line from 0 to 100 %."""
        altair = library()
        names = told_apart([one.name for one in self.tried])
        values = [vars(one) | {"name": name} for one, name in zip(self.tried, names, strict=True)]
        data = altair.Data(values=values)
        y = altair.Y("name:N", sort=names, title=None, axis=altair.Axis(labelLimit=120, ticks=False, domain=False))
        axis = altair.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1], labelFlush=True)
        x = altair.X("value:Q", title=None, scale=altair.Scale(domain=[0, 1]), axis=axis)
        base = altair.Chart(data).encode(y=y)
        spread = base.mark_rule(strokeWidth=2, color=colour("after"), opacity=0.6).encode(x="low:Q", x2="high:Q")
        dots = base.mark_point(filled=True, size=70, opacity=1, color=colour("after")).encode(x=x)
        ticks = base.mark_tick(thickness=3, size=14, color=colour("before")).encode(x=altair.X("control:Q"))
        ticks = ticks.transform_filter("isValid(datum.control)")
        return (spread + ticks + dots).properties(width=WIDTH - 70, height=_ROW * max(len(names), 2))

    @classmethod
    def example(cls) -> Dumbbell:
        """Two attacks."""
        return cls("Attacks", [Success("linkage", 0.08, 0.05, 0.12, 0.01), Success("inference", 0.6, 0.55, 0.65, 0.58)])
