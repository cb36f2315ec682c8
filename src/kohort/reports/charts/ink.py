"""The colours of reports, for paper and screens that are light, and for those that are dark.

People who see no red or green can distinguish all of them; and they differ in lightness, so that they survive a
printer without colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Colour: TypeAlias = Literal["ink", "line", "after", "before", "alarm", "paper"]


@dataclass(frozen=True)
class Shades:
    """One colour: what stands for it while a chart is rendered, and its two forms."""

    stand_in: str
    light: str
    dark: str


COLOURS: dict[Colour, Shades] = {
    "ink": Shades("#010203", "#3d4852", "#c3ccd5"),
    "line": Shades("#010204", "#c5ccd3", "#46505a"),
    "after": Shades("#010205", "#1a6c8c", "#5fb7d9"),
    "before": Shades("#010206", "#b06a12", "#e9a94e"),
    "alarm": Shades("#010207", "#b3261e", "#ff8a80"),
    "paper": Shades("#010208", "#ffffff", "#14181c"),
}


def style() -> str:
    """The colours as CSS variables, light and dark; on paper always light."""
    light, dark = (_variables(form) for form in ("light", "dark"))
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _variables(form: Literal["light", "dark"]) -> str:
    return "".join(f"--chart-{name}:{getattr(shades, form)};" for name, shades in COLOURS.items())
