"""What a published cell covers, in a few lines; for the kinds of columns that `property.strategies` draws."""

from __future__ import annotations

import datetime as dt
from collections import Counter


def covers(text, value, column):
    """Whether a cell of a written file may stand for a value; `column` is that of the policy."""
    if text == "*":
        return True
    if value is None or text == "":
        return value is None and text == ""
    hierarchy = column.hierarchy
    if hierarchy is not None and hierarchy.prefix is not None:
        return len(text) == len(value) and value.startswith(text.rstrip("*"))
    if hierarchy is not None and hierarchy.tree is not None:
        return text == value or value in _under(hierarchy.tree, text)
    if hierarchy is not None and hierarchy.dates is not None:
        return value.isoformat().startswith(text.removesuffix("0s") if text.endswith("0s") else text)
    if column.type == "string":
        return text == value
    read = dt.date.fromisoformat if column.type == "date" else float
    low, high = text[1:-1].split(" - ") if text.startswith("[") else (text, text)
    return read(low) <= value <= read(high)


def _under(tree, label, inside=False):
    """The leaves under a label of a nested tree."""
    if isinstance(tree, dict):
        return [leaf for key, below in tree.items() for leaf in _under(below, label, inside or key == label)]
    return list(tree) if inside else []


def counted(rows, people, policy):
    """(records, covered people) of every class of a written file, every pair looked at."""
    quasi = policy.quasi_identifiers
    sizes = Counter(tuple(row[name] for name in quasi) for row in rows)
    return [
        (
            size,
            sum(
                all(covers(text, person[name], policy.columns[name]) for text, name in zip(texts, quasi, strict=True))
                for person in people
            ),
        )
        for texts, size in sizes.items()
    ]
