"""A taxonomy as a tree in the terminal."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kohort.policy.hierarchy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from rich.tree import Tree

_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect width="100%" height="100%" fill="white"/>
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own has a frame, and fonts that would be fetched from elsewhere by whoever opens the file."""


def draw(taxonomy: Taxonomy, max_children: int = 12) -> Tree:
    """Draw a taxonomy: every label, and the number of leaves under each inner node; at most that many children of each.

    Examples
    --------
    >>> import rich
    >>> rich.print(draw(Taxonomy.from_tree({"Lung": ["Asthma", "Flu"]}, "illness")))
    *  2 leaves
    └── Lung  2 leaves
        ├── Asthma
        └── Flu
    """
    # rich takes its time to load, and only who draws needs it
    from rich.text import Text
    from rich.tree import Tree

    children: dict[int, list[int]] = defaultdict(list)
    for node, parent in enumerate(taxonomy.parent.tolist()):
        children[parent].append(node)

    def caption(node: int) -> Text:
        text = Text(taxonomy.labels[node])  # Text, not str: in markup, [20 - 24] would vanish
        if node in children:
            count = int(taxonomy.last_leaf[node] - taxonomy.first_leaf[node]) + 1
            text.append("  1 leaf" if count == 1 else f"  {count} leaves", style="dim")
        return text

    drawing = Tree(caption(0))
    waiting = [(0, drawing)]
    while waiting:
        node, branch = waiting.pop()
        below = children.get(node, [])
        for child in below[:max_children]:
            waiting.append((child, branch.add(caption(child))))
        if len(below) > max_children:
            branch.add(Text(f"… and {len(below) - max_children} more", style="dim"))
    return drawing


def to_svg(drawing: Tree, title: str) -> str:
    """The same as an SVG file, which fetches nothing.

    Examples
    --------
    >>> "Asthma" in to_svg(draw(Taxonomy.from_tree({"Lung": ["Asthma", "Flu"]}, "illness")), "illness")
    True
    """
    import io

    from rich.console import Console
    from rich.terminal_theme import TerminalTheme

    theme = TerminalTheme((255, 255, 255), (20, 20, 20), [(20, 20, 20)] * 8, [(90, 90, 90)] * 8)
    recorded = Console(record=True, file=io.StringIO(), width=100, highlight=False, markup=False, emoji=False)
    recorded.print(drawing)
    return recorded.export_svg(title=title, theme=theme, code_format=_SVG)
