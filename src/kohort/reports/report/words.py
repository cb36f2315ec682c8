"""How a report writes numbers and names."""

from __future__ import annotations

from collections.abc import Sequence

from kohort.audit.words import count
from kohort.reports.words import percent


def of_rows(rows: int, of: int) -> str:
    """Rows with their share.

    Examples
    --------
    >>> of_rows(12, 48)
    '12 of 48 rows (25 %)'
    """
    return f"{rows:,} of {count(of, 'row')} ({percent(rows / max(of, 1))})"


def names(columns: Sequence[str], word: str = "and") -> str:
    """Names of columns, in a sentence."""
    return columns[0] if len(columns) == 1 else f"{', '.join(columns[:-1])} {word} {columns[-1]}" if columns else ""
