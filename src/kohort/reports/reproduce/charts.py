"""Figures of reproduced claims: SVG and PNG, if altair and vl-convert are there."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kohort.reports.reproduce.base import Claim


def draw(claim: Claim, results: pl.DataFrame, folder: Path) -> bool:
    """Draw the figure of a claim; False where the libraries are not installed (extra `reproduce`)."""
    try:
        import altair
        import vl_convert
    except ImportError:
        return False
    assert claim.axes is not None
    x, y = claim.axes.x, claim.axes.y
    lines = (
        altair.Chart(results)
        .mark_line(point=True)
        .encode(
            x=altair.X(f"{x}:Q", title=x),
            y=altair.Y(f"mean({y}):Q", title=y),
            color=altair.Color("algorithm:N", title=None),
        )
    )
    points = altair.Chart(results).mark_tick(opacity=0.5).encode(x=f"{x}:Q", y=f"{y}:Q", color="algorithm:N")
    chart = altair.layer(lines, points).properties(width=320, height=220).facet(altair.Facet("table:N", title=None))
    drawing = chart.to_json()
    (folder / f"{claim.name}.svg").write_text(vl_convert.vegalite_to_svg(drawing), encoding="utf-8")
    (folder / f"{claim.name}.png").write_bytes(vl_convert.vegalite_to_png(drawing, scale=2))
    return True
