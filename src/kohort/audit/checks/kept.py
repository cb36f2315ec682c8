"""The order of a release that keeps that of its original, with some rows withheld: which row comes from where.

Released rows are some of the original rows, in their order. Taking for each the first original row that it fits, after
that of the row before, finds an order if there is one; beginning at the end finds the last. If both are the same, there
is no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kohort.audit.checks.rowwise import Question
from kohort.audit.read.dictionary import Ints
from kohort.audit.read.table import Table

_FEW, _MANY = 16, 1 << 16
"""Rows that are compared at once: more and more of them as long as they fit."""

Columns: TypeAlias = Sequence[tuple[Ints, Ints, Ints]]
"""For each column the first and last place of every released row, and the place of every original row."""


@dataclass(frozen=True)
class Kept:
    """The first order that fits, and whether there are others."""

    rows: Ints
    several: bool


def is_too_large(original: Table, questions: Sequence[Question]) -> bool:
    """Whether there is no room to look for the order."""
    width = sum(3 * question.place.dtype.itemsize for question in questions) + 16
    return width * original.rows > original.database.room


def kept_order(release: Table, original: Table, questions: Sequence[Question]) -> Kept | None:
    """Find which original rows a release has, in their order; None if none fit."""
    if not questions:
        return None
    columns = [_places(release, original, question) for question in questions]
    earliest = _earliest(columns, release.rows, original.rows)
    if earliest is None:
        return None
    backwards = [(first[::-1], last[::-1], place[::-1]) for first, last, place in columns]
    latest = _earliest(backwards, release.rows, original.rows)
    assert latest is not None
    return Kept(earliest, bool((original.rows - 1 - latest[::-1] != earliest).any()))


def _places(release: Table, original: Table, question: Question) -> tuple[Ints, Ints, Ints]:
    released, there = (
        np.concatenate([table.codes([question.column], start, stop)[0] for start, stop in table.batches()])
        for table in (release, original)
    )
    return question.first[released], question.last[released], question.place[there]


def _earliest(columns: Columns, released: int, originals: int) -> Ints | None:
    """The first original row, one after the other, that each released row fits."""
    rows = np.empty(released, np.int64)
    row = there = 0
    block = _FEW
    while row < released:
        if originals - there < released - row:
            return None
        size = min(block, released - row)
        fits = np.ones(size, bool)
        for first, last, place in columns:
            here = place[there : there + size]
            fits &= (first[row : row + size] <= here) & (here <= last[row : row + size])
        good = size if fits.all() else int(np.argmin(fits))
        rows[row : row + good] = np.arange(there, there + good)
        row, there = row + good, there + good + (good < size)
        block = min(2 * block, _MANY) if good == size else _FEW
    return rows
