"""Descriptions as boxes: whether one person can fit two of them, also of two releases.

Each column is a line, on which every published value covers one stretch. Two values can be true of the same
person if their stretches share a place. Nothing is known of the values in between, so what cannot be read
covers the whole line: a person is rather taken to fit than not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.audit.ledger import Shown
from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import LAST_CHARACTER, Exact, Mask, Node, PublishedColumn

Ints: TypeAlias = NDArray[np.int64]
Stretch: TypeAlias = tuple[int, int]
"""First and last place on the line of a column."""

Boxes: TypeAlias = tuple[tuple[Ints, Ints], tuple[Ints, Ints]]
"""First and last place of every class in every column, of two releases: arrays of shape (columns, classes)."""

_MISSING = -1
"""Place of a missing value that is a value of its own."""


def boxes(new: Shown, old: Shown, readers: Mapping[str, PublishedColumn]) -> Boxes:
    """Lay the classes of two releases out in one space.

    The space has the quasi-identifiers that both releases have and that are read in the same way in both. Any
    other says nothing about who can be in both, and is left out.
    """
    missing_is_any = "wildcard" in (new.missing, old.missing)
    sides: tuple[list[list[Stretch]], list[list[Stretch]]] = ([], [])
    for name in comparable(new, old):
        cells = [_cells(shown, name) for shown in (new, old)]
        line = stretches(readers[name], {*cells[0], *cells[1]}, missing_is_any=missing_is_any)
        for side, texts in zip(sides, cells, strict=True):
            side.append([line[text] for text in texts])
    return _ends(sides[0], len(new.classes)), _ends(sides[1], len(old.classes))


def comparable(new: Shown, old: Shown) -> list[str]:
    """Name the quasi-identifiers whose published values mean the same in both releases."""
    return [column.name for column in new.quasi if column in old.quasi]


def stretches(
    reader: PublishedColumn, texts: Collection[str | None], *, missing_is_any: bool
) -> dict[str | None, Stretch]:
    """Find the stretch of every text, missing included."""
    ends = {text: None if text is None else _span(reader, text) for text in texts}
    places = {key: place for place, key in enumerate(sorted({key for span in ends.values() for key in span or ()}))}
    everything = (_MISSING, len(places))
    found: dict[str | None, Stretch] = {
        text: everything if span is None else (places[span[0]], places[span[1]]) for text, span in ends.items()
    }
    if None in found and not missing_is_any:
        found[None] = (_MISSING, _MISSING)
    return found


def _span(reader: PublishedColumn, text: str) -> tuple[Any, Any] | None:
    """Lowest and highest key that a text covers, in an order of its own for every kind; None for all of them."""
    meaning = reader.read(text)
    match meaning:
        case Node(_, first, last):
            return first, last
        case Interval(lo, hi, lo_closed, hi_closed) if reader.has_ends and not meaning.is_empty:
            return (lo, 0 if lo_closed else 1), (hi, 0 if hi_closed else -1)
        case Mask(prefix, length):
            return (length, prefix), (length, prefix + LAST_CHARACTER)
        case Exact(text):
            return (len(text), text), (len(text), text)
    return None


def _cells(shown: Shown, name: str) -> list[str | None]:
    place = [column.name for column in shown.quasi].index(name)
    return [one.description[place] for one in shown.classes]


def _ends(columns: Sequence[Sequence[Stretch]], classes: int) -> tuple[Ints, Ints]:
    found = np.array(columns, np.int64).reshape(len(columns), classes, 2)
    return np.ascontiguousarray(found[:, :, 0]), np.ascontiguousarray(found[:, :, 1])
