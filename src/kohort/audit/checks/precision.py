"""Whether numbers and dates are no more precise than the policy allows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

import numpy as np

from kohort.audit.case import Case
from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import PublishedColumn, Star
from kohort.audit.verdict import Check
from kohort.audit.words import count

_FIRST_MONDAY = Fraction(date(1, 1, 1).toordinal() - date(1970, 1, 1).toordinal())
"""Grids of days begin here, in days since 1970; those of numbers at 0."""


@dataclass(frozen=True)
class _Held:
    """The values that a text holds, by their ends; None where there is no end.

    An end is excluded only where values lie as close to it as one likes: over whole numbers and days it is the
    outermost value.
    """

    lo: Fraction | None
    hi: Fraction | None
    lo_closed: bool
    hi_closed: bool

    @classmethod
    def of(cls, said: Interval, *, whole: bool) -> _Held:
        """Find the ends of what an interval holds, among all numbers or among whole ones alone."""
        lo, hi = (Fraction(end) if end.is_finite() else None for end in (said.lo, said.hi))
        if not whole:
            return cls(lo, hi, said.lo_closed, said.hi_closed)
        if lo is not None:
            lo = Fraction(math.ceil(lo) if said.lo_closed else math.floor(lo) + 1)
        if hi is not None:
            hi = Fraction(math.floor(hi) if said.hi_closed else math.ceil(hi) - 1)
        return cls(lo, hi, True, True)

    def is_narrower(self, width: Fraction) -> bool:
        """Whether it does not hold two values that are so far apart."""
        if self.lo is None or self.hi is None:
            return False
        if self.lo_closed and self.hi_closed:
            return self.hi - self.lo < width
        return self.hi - self.lo <= width


@dataclass(frozen=True)
class _Limits:
    """What the policy allows for one column."""

    origin: Fraction
    snap: Fraction | None
    width: Fraction
    bottom: Fraction | None
    top: Fraction | None
    whole: bool
    """Whether the values are whole numbers or days."""

    def faults(self, said: Interval) -> Iterator[str]:
        """Name what an interval says too precisely."""
        held = _Held.of(said, whole=self.whole)
        ends = [end for end in (held.lo, held.hi) if end is not None]
        if self.snap is not None and any((end - self.origin) % self.snap for end in ends):
            yield "with an end off the grid"
        if held.is_narrower(self.width):
            yield "narrower than allowed"
        if self.bottom is not None and _tells_apart(held.hi, held.lo, self.bottom, -1, closed=held.hi_closed):
            yield "that distinguishes values below the bottom"
        if self.top is not None and _tells_apart(held.lo, held.hi, self.top, 1, closed=held.lo_closed):
            yield "that distinguishes values above the top"


def _tells_apart(near: Fraction | None, far: Fraction | None, border: Fraction, sign: int, *, closed: bool) -> bool:
    """Whether an interval divides what lies at a border or beyond it: some of it is inside and some is not.

    Parameters
    ----------
    near, far : Fraction or None
        The end on the inner side of the border, and the one on its outer side.
    sign : int
        1 for a top, -1 for a bottom.
    closed : bool
        Whether the near end is included.
    """
    beyond = near is not None and (near - border) * sign > 0
    at_border = near == border
    if far is None:
        return beyond or (at_border and not closed)
    # it may end at the border, as one on a grid does: who is there is published without an end
    return beyond or at_border or (far - border) * sign > 0


def precision(case: Case) -> Check | None:
    """Ask whether every interval lies on its grid, is wide enough, and ends where the policy's borders are."""
    limits = {name: _limits(case, name) for name in case.columns}
    asked = {name: limit for name, limit in limits.items() if limit is not None}
    if not asked:
        return None
    sentences: list[str] = []
    figures: dict[str, int | float | str] = {}
    for name, limit in asked.items():
        rows = Counter[str]()
        published = case.release.dictionary(name)
        for text, times in zip(published.values, published.times.tolist(), strict=True):
            for fault in () if text is None else _faults(case.columns[name], limit, text):
                rows[fault] += times
        figures[f"too_precise.{name}"] = max(rows.values(), default=0)
        for fault, times in rows.items():
            hold = "holds" if times == 1 else "hold"
            sentences.append(f"column {name!r}: {count(times, 'row')} {hold} an interval or value {fault}")
    fine = "no number or date is published more precisely than the policy allows"
    return Check("precision", not sentences, f"{'; '.join(sentences) or fine}.", figures)


def _faults(column: PublishedColumn, limit: _Limits, text: str) -> list[str]:
    meaning = column.read(text)
    if isinstance(meaning, Star):
        return []
    return list(limit.faults(meaning)) if isinstance(meaning, Interval) else ["that cannot be read"]


def _limits(case: Case, name: str) -> _Limits | None:
    column, published = case.policy.columns[name], case.columns[name]
    if all(value is None for value in (column.snap, column.bottom, column.top, column.min_width)):
        return None
    snap, width = (None if step is None else Fraction(str(step)) for step in (column.snap, column.min_width))
    return _Limits(
        origin=_FIRST_MONDAY if published.kind == "date" else Fraction(0),
        snap=snap,
        width=max(snap or Fraction(0), width or Fraction(0)),
        bottom=None if published.bottom is None else Fraction(published.bottom),
        top=None if published.top is None else Fraction(published.top),
        whole=_are_whole(case, name),
    )


def _are_whole(case: Case, name: str) -> bool:
    """Whether the values of a column are whole numbers or days: by the policy, else by the original, else by the file.

    The file alone is not enough if the policy says that there may be fractions. A grid of fractions has ends
    between whole numbers, whatever the values are.
    """
    column, published = case.policy.columns[name], case.columns[name]
    declared, given = column.type, (column.snap, column.min_width, published.bottom, published.top)
    if published.kind == "date" or declared == "integer":
        return True
    if not published.has_ends or any(Fraction(str(setting)) % 1 for setting in given if setting is not None):
        return False
    if case.original is not None and name in case.original.columns:
        for _, some in case.original.dictionary(name).values.batches():
            floats, others = published.values(some)
            if (floats[~np.isnan(floats)] % 1).any() or any(
                value is not None and Fraction(value) % 1 for _, value in others
            ):
                return False
        return True
    read = (published.read(text) for text in case.release.dictionary(name).values if text is not None)
    ends = (end for said in read if isinstance(said, Interval) for end in (said.lo, said.hi) if end.is_finite())
    return declared is None and not any(Fraction(end) % 1 for end in ends)
