"""How many records are in classes of which size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kohort.reports.charts.base import CHARTS, HEIGHT, WIDTH, Chart, colour, library
from kohort.reports.words import percent

_LETTERS = 28
"""So many fit below the bars side by side."""


@CHARTS.register("class-sizes")
@dataclass(frozen=True)
class ClassSizes(Chart):
    """A bar for each size, or range of sizes; those below k, if there are any, in the colour of alarm."""

    records: Mapping[str, int]
    """Records in classes of each size, such as ``10`` or ``12-15``, in order."""
    k: int
    title: str = "Records by the size of their class"

    @property
    def description(self) -> str:
        """The share of each bar."""
        total = sum(self.records.values()) or 1
        said = (f"size {size}: {percent(rows / total)} of records" for size, rows in self.records.items())
        return "; ".join(said) + "."

    def drawn(self) -> Any:
        """Bars that stand on the sizes."""
        altair = library()
        sizes, total = list(self.records), sum(self.records.values()) or 1
        values = [
            {"size": size, "share": rows / total, "small": int(size.split("-")[0].strip(">= ")) < self.k}
            for size, rows in self.records.items()
        ]
        slanted = (
            {"labelAngle": -45, "labelAlign": "right"} if len(sizes) > 1 and sum(map(len, sizes)) > _LETTERS else {}
        )
        axis = altair.Axis(labelOverlap=False, ticks=False, **({"labelAngle": 0} | slanted))
        return (
            altair.Chart(altair.Data(values=values))
            .mark_bar(cornerRadiusEnd=1)
            .encode(
                x=altair.X("size:N", sort=sizes, title="records in the class", axis=axis),
                y=altair.Y("share:Q", title="share of records", axis=altair.Axis(format="%", tickCount=4)),
                color=altair.condition("datum.small", altair.value(colour("alarm")), altair.value(colour("after"))),
            )
            .properties(width=WIDTH, height=HEIGHT)
        )

    @classmethod
    def example(cls) -> ClassSizes:
        """Classes of ten and a little more, and one too small."""
        return cls({"7": 7, "10": 6000, "11": 2200, "12-15": 700, "16-31": 90}, 10)
