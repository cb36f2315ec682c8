"""Risk against information loss: every result of a comparison, those that no other beats, the recommended one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from kohort.reports.charts.base import CHARTS, WIDTH, Chart, colour, library

Standing: TypeAlias = Literal["beaten by another", "beaten by none", "recommended"]
FEW = 6
"""Up to this number of different risks, their axis marks each of them."""
_HEIGHT = 220


@dataclass(frozen=True)
class Result:
    """A point: what a release would risk and lose; or a lower bound on the loss, which has no standing."""

    name: str
    risk: float
    loss: float
    standing: Standing | None = None
    marked: bool = False
    """Whether it is on the frontier, and named."""


@CHARTS.register("frontier")
@dataclass(frozen=True)
class Frontier(Chart):
    """Points that are safer further left, and lose less further down; a line through those that no other beats."""

    title: str
    results: Sequence[Result]
    bounds: Sequence[Result] = ()

    @property
    def description(self) -> str:
        """Those that no other beats, with their figures."""
        best = "; ".join(
            f"{one.name}: risk {one.risk:.1%}, loss {one.loss:.4f}, {one.standing}"
            for one in self.results
            if one.standing != "beaten by another"
        )
        bounds = "".join(f" At risk {one.risk:.1%}, nothing loses less than {one.loss:.4f}." for one in self.bounds)
        return f"{len(self.results)} results, safer to the left, less loss further down. {best}.{bounds}"

    def drawn(self) -> Any:
        """Points, a line through the frontier, and a dash for each lower bound."""
        altair = library()
        looks: dict[str, tuple[str, str, int]] = {
            "beaten by another": (colour("ink"), "circle", 22),
            "beaten by none": (colour("after"), "diamond", 80),
            "recommended": (colour("before"), "triangle-up", 160),
        }
        colours, shapes, sizes = (list(look) for look in zip(*looks.values(), strict=True))
        legend = altair.Legend(orient="top", direction="vertical", title=None, symbolType="circle")
        points = altair.Chart(altair.Data(values=[asdict(one) for one in self.results])).encode(
            x=_risk([one.risk for one in self.results]), y=altair.Y("loss:Q", title="information loss")
        )
        marks = points.mark_point(filled=True, opacity=1).encode(
            color=altair.Color("standing:N", scale=altair.Scale(domain=list(looks), range=colours), legend=legend),
            shape=altair.Shape("standing:N", scale=altair.Scale(domain=list(looks), range=shapes), legend=legend),
            size=altair.Size("standing:N", scale=altair.Scale(domain=list(looks), range=sizes), legend=None),
        )
        best = points.transform_filter("datum.marked")
        line = best.mark_line(color=colour("after"), strokeWidth=1.5).encode(order="risk:Q")
        named = points.transform_filter("datum.standing != 'beaten by another'")
        # The curve falls: there is room above the first point, and below all others.
        safest = min((one.risk for one in self.results), default=0.0)
        first = named.transform_filter(f"datum.risk <= {safest}").mark_text(
            align="left", baseline="bottom", dx=6, dy=-3
        )
        others = named.transform_filter(f"datum.risk > {safest}").mark_text(align="right", baseline="top", dx=-6, dy=5)
        layers = [
            line,
            marks,
            *(one.encode(text="name:N", color=altair.value(colour("ink"))) for one in (first, others)),
        ]
        if self.bounds:
            bounds = altair.Chart(altair.Data(values=[asdict(one) for one in self.bounds])).encode(
                x="risk:Q", y="loss:Q"
            )
            layers += [
                bounds.mark_tick(color=colour("ink"), thickness=2, size=18, orient="horizontal"),
                bounds.transform_filter(f"datum.risk >= {max(one.risk for one in self.bounds)}")
                .mark_text(align="left", dx=12, color=colour("ink"))
                .encode(text=altair.value("lower bound")),
            ]
        return altair.layer(*layers).properties(width=WIDTH - 10, height=_HEIGHT)

    @classmethod
    def example(cls) -> Frontier:
        """Three sizes and one result that is beaten."""
        results = [
            Result("auto, k = 5", 0.2, 0.041, "beaten by none", True),
            Result("auto, k = 10", 0.1, 0.066, "recommended", True),
            Result("auto, k = 50", 0.02, 0.143, "beaten by none", True),
            Result("fast, k = 10", 0.1, 0.089, "beaten by another"),
        ]
        return cls("Risk against information loss", results, [Result("lower bound", 0.2, 0.03)])


def _risk(risks: Sequence[float]) -> Any:
    """The axis of risks, on which halving is the same step everywhere."""
    altair = library()
    values = sorted(set(risks))
    axis = altair.Axis(
        values=values if len(values) <= FEW else altair.Undefined, format=".1%", labelOverlap=True, grid=False
    )
    scale = altair.Scale(type="log", domain=[values[0] / 2, 2.6 * values[-1]], nice=False)
    return altair.X("risk:Q", title="highest risk of re-identification: 1 / smallest class", axis=axis, scale=scale)
