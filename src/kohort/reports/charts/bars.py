"""Shares of some things, of one or two tables beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kohort.reports.charts.base import CHARTS, WIDTH, Chart, colour, library
from kohort.reports.charts.ink import Colour
from kohort.reports.words import percent

_ROW = 26
"""Height for each thing."""


@CHARTS.register("bars")
@dataclass(frozen=True)
class Bars(Chart):
    """Horizontal bars for each thing, with its share in digits; of two series, the first is hollow."""

    title: str
    things: Sequence[str]
    series: Mapping[str, Sequence[float]]
    """For each series, such as ``original`` and ``release``, the share of each thing."""
    most: float | None = None
    """Where the axis ends; at the largest share when absent."""

    @property
    def description(self) -> str:
        """Every share."""
        return "; ".join(f"{thing}: {self._said(place)}" for place, thing in enumerate(self.things)) + "."

    def _said(self, place: int) -> str:
        return ", ".join(f"{percent(shares[place])} {name}".strip() for name, shares in self.series.items())

    def drawn(self) -> Any:
        """Bars with their shares behind them."""
        altair = library()
        names, things = list(self.series), told_apart(self.things)
        values: list[dict[str, Any]] = [
            {"thing": thing, "series": name, "share": share, "digits": percent(share)}
            for name, shares in self.series.items()
            for thing, share in zip(things, shares, strict=True)
        ]
        tones: list[Colour] = ["before", "after"] if len(names) > 1 else ["after"]
        top = self.most or max((value["share"] for value in values), default=1.0) or 1.0
        y = altair.Y("thing:N", sort=things, title=None, axis=altair.Axis(labelLimit=110, ticks=False, domain=False))
        scale = altair.Scale(domain=[0, top * 1.25], nice=False)
        base = altair.Chart(altair.Data(values=values)).encode(
            y=y,
            x=altair.X("share:Q", scale=scale, axis=None),
            yOffset=altair.YOffset("series:N", sort=names),
            color=altair.Color(
                "series:N",
                scale=altair.Scale(domain=names, range=[colour(tone) for tone in tones]),
                legend=altair.Legend(symbolStrokeWidth=0) if len(names) > 1 else None,
            ),
        )
        is_last = f"datum.series == '{names[-1]}'"
        filled = base.mark_bar(cornerRadiusEnd=1, stroke=colour("before")).encode(
            fillOpacity=altair.condition(is_last, altair.value(1), altair.value(0.2)),
            strokeWidth=altair.condition(is_last, altair.value(0), altair.value(1)),
        )
        digits = base.mark_text(align="left", dx=4, color=colour("ink")).encode(
            text="digits:N", color=altair.value(colour("ink"))
        )
        height = max(_ROW * len(things) * len(names) ** 0.5, 40)
        return (filled + digits).properties(width=WIDTH - 60, height=height)

    @classmethod
    def example(cls) -> Bars:
        """Two tables that differ a little."""
        return cls(
            "Education", ["School", "College", "others"], {"original": [0.5, 0.3, 0.2], "release": [0.4, 0.3, 0.3]}
        )


def told_apart(things: Sequence[str]) -> list[str]:
    """Different names for different things, however alike they are."""
    seen: dict[str, int] = {}
    found = []
    for thing in things:
        seen[thing] = seen.get(thing, 0) + 1
        found.append(thing if seen[thing] == 1 else f"{thing} ({seen[thing]})")
    return found
