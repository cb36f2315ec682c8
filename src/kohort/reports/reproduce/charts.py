"""Figures of reproduced claims: SVG and PNG, if altair and vl-convert are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from kohort.reports.reproduce.base import Axes, Claim

WIDE = 3
"""Panels beside each other."""
FEW = 10
"""Up to this number of values, an axis marks each of them."""
FAR = 25
"""From this ratio of the largest and the smallest value on, an axis is logarithmic."""


def shown(axes: Axes, results: pl.DataFrame) -> pl.DataFrame:
    """What a figure shows of the results of its runs."""
    return (axes.shape(results) if axes.shape else results).drop_nulls([axes.x, axes.y])


def draw(claim: Claim, results: pl.DataFrame, folder: Path) -> bool:
    """Draw the figure of a claim; False where the libraries are not installed (extra `reproduce`)."""
    try:
        import vl_convert
    except ImportError:
        return False
    assert claim.axes is not None
    drawing = _chart(claim.axes, shown(claim.axes, results)).to_json()
    (folder / f"{claim.name}.svg").write_text(vl_convert.vegalite_to_svg(drawing), encoding="utf-8")
    (folder / f"{claim.name}.png").write_bytes(vl_convert.vegalite_to_png(drawing, scale=2))
    return True


def _chart(axes: Axes, results: pl.DataFrame) -> Any:
    """Means over seeds, with a stroke from the least to the greatest."""
    import altair

    tables, lines = (results[name].unique(maintain_order=True).to_list() for name in ("table", axes.lines))
    values = results[axes.x].unique().sort().to_list()
    axis = altair.Axis(values=values if len(values) <= FEW else altair.Undefined, grid=False, labelFlush=False)
    scale = altair.Scale(type="log" if 0 < FAR * values[0] < values[-1] else "linear", zero=False)
    x = altair.X(f"{axes.x}:Q", title=axes.x, axis=axis, scale=scale)
    color = altair.Color(
        f"{axes.lines}:N", title=None, sort=lines, legend=altair.Legend(labelLimit=0, symbolType="circle")
    )
    base = altair.Chart(results)
    means = base.mark_line(point=True).encode(x=x, y=altair.Y(f"mean({axes.y}):Q", title=axes.y), color=color)
    spread = base.mark_rule(opacity=0.5).encode(x=x, y=f"min({axes.y}):Q", y2=f"max({axes.y}):Q", color=color)
    size = {"width": 300, "height": 200}
    facet = altair.Facet("table:N", title=None, sort=tables)
    panels = altair.layer(means, spread).properties(**size).facet(facet, columns=min(WIDE, len(tables)))
    return panels.resolve_scale(y="independent") if axes.free else panels
