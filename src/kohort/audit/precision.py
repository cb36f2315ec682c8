"""Whether numbers and dates are told no more precisely than the policy allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from kohort.audit.case import Case, count
from kohort.audit.intervals import Interval
from kohort.audit.published import PublishedColumn, Star
from kohort.audit.verdict import Check
from kohort.policy import Column

_FIRST_MONDAY = Decimal(date(1, 1, 1).toordinal() - date(1970, 1, 1).toordinal())
"""Grids of days begin here, in days since 1970; those of numbers at 0."""


@dataclass(frozen=True)
class _Limits:
    """What the policy allows for one column."""

    origin: Decimal
    snap: Decimal | None
    width: Decimal
    bottom: Decimal | None
    top: Decimal | None

    def faults(self, told: Interval) -> Iterator[str]:
        """Name what an interval tells too precisely."""
        ends = [end for end in (told.lo, told.hi) if end.is_finite()]
        if self.snap is not None and any((end - self.origin) % self.snap for end in ends):
            yield "with an end off the grid"
        if told.hi - told.lo < self.width:
            yield "narrower than allowed"
        if self.bottom is not None and (told.hi < self.bottom or (told.lo.is_finite() and self._below(told))):
            yield "that tells values below the bottom apart"
        if self.top is not None and (told.lo > self.top or (told.hi.is_finite() and self._above(told))):
            yield "that tells values above the top apart"

    def _below(self, told: Interval) -> bool:
        assert self.bottom is not None
        return told.lo < self.bottom or told.hi <= self.bottom

    def _above(self, told: Interval) -> bool:
        assert self.top is not None
        return told.hi > self.top or told.lo >= self.top


def precision(case: Case) -> Check | None:
    """Ask whether every interval lies on its grid, is wide enough, and ends where the policy's borders are."""
    limits = {name: _limits(case.policy.columns[name], column) for name, column in case.columns.items()}
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
    fine = "no number or date is told more precisely than the policy allows"
    return Check("precision", not sentences, f"{'; '.join(sentences) or fine}.", figures)


def _faults(column: PublishedColumn, limit: _Limits, text: str) -> list[str]:
    meaning = column.read(text)
    if isinstance(meaning, Star):
        return []
    return list(limit.faults(meaning)) if isinstance(meaning, Interval) else ["that cannot be read"]


def _limits(column: Column, published: PublishedColumn) -> _Limits | None:
    if all(value is None for value in (column.snap, column.bottom, column.top, column.min_width)):
        return None
    snap, width = (None if step is None else Decimal(str(step)) for step in (column.snap, column.min_width))
    return _Limits(
        origin=_FIRST_MONDAY if published.kind == "date" else Decimal(0),
        snap=snap,
        width=max(snap or Decimal(0), width or Decimal(0)),
        bottom=_border(column.bottom),
        top=_border(column.top),
    )


def _border(border: float | str | None) -> Decimal | None:
    """Read a border: a number, or a date as days since 1970."""
    if isinstance(border, str):
        return Decimal(date.fromisoformat(border).toordinal() - date(1970, 1, 1).toordinal())
    return None if border is None else Decimal(str(border))
