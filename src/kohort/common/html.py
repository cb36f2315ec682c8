"""Tables of a notebook: plain HTML, and every text in it is escaped, for names of columns may hold anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any
from unicodedata import category

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def visible(text: str) -> str:
    r"""A text without characters that show nothing, or turn around what is beside them: somebody will sign the page.

    Examples
    --------
    >>> visible("a\u202eb\x07c").encode("ascii", "replace")
    b'a?b?c'
    """
    return "".join("\ufffd" if category(one) in _HIDDEN and one != "\n" else one for one in text)


def html_table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table of texts."""
    lines = [_row("th", header)] if header else []
    return f"<table>{''.join([*lines, *(_row('td', row) for row in rows)])}</table>"


def html_block(title: Any, *parts: str) -> str:
    """A title, which is escaped, and parts that are HTML already."""
    return f"<div><strong>{escape(str(title))}</strong>{''.join(parts)}</div>"


def html_text(text: Any) -> str:
    """A sentence."""
    return f"<p>{escape(str(text))}</p>"


def _row(tag: str, cells: Sequence[Any]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(_shown(cell))}</{tag}>' for cell in cells)}</tr>"


def _shown(cell: Any) -> str:
    return "" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell)
