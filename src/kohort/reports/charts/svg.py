"""From what the renderer writes to a picture that a page can hold: it scales, has words, and follows the page."""

from __future__ import annotations

import re
from html import escape

from kohort.common.html import visible
from kohort.reports.charts.ink import COLOURS, style

_ROOT = re.compile(r"<svg\b[^>]*?viewBox=\"0 0 ([\d.]+) ([\d.]+)\"[^>]*>")
_ROLES = re.compile(r"\s(?:role|aria-[a-z]+|class|pointer-events)=\"[^\"]*\"")
"""What the renderer says of each mark; a picture with a title and a description says it once."""
_GROUND = ".chart{background:var(--chart-paper)}"
"""A file of its own stands on no page."""
_BACKGROUND = re.compile(r"<rect [^>]*fill=\"(?:white|transparent)\"/>")


def accessible(drawing: str, identity: str, title: str, description: str, *, alone: bool = False) -> str:
    """Make a drawing part of a page.

    Parameters
    ----------
    drawing : str
        SVG as vl-convert writes it.
    identity : str
        What no other drawing of the page is called.
    title, description : str
        For screen readers.
    alone : bool
        Whether it becomes a file of its own.
    """
    match = _ROOT.search(drawing)
    assert match is not None
    width, height = match[1], match[2]
    names = f'aria-labelledby="{identity}-title" aria-describedby="{identity}-text"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" {names} viewBox="0 0 {width} {height}"'
    head += f' width="{width}" height="{height}">'
    words = f'<title id="{identity}-title">{_text(title)}</title><desc id="{identity}-text">{_text(description)}</desc>'
    body = _BACKGROUND.sub("", _ROLES.sub("", visible(drawing[match.end() :])), count=1)
    for name, shades in COLOURS.items():
        body = body.replace(shades.stand_in, f"var(--chart-{name})")
    return head + words + (f"<style>{style()}{_GROUND}</style>" if alone else "") + body


def _text(text: str) -> str:
    return escape(visible(text), quote=False)
