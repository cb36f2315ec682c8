"""What columns say together: which follow from which, and which single records out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import polars as pl

from kohort.reports.alike import counts_of, numbers_of, sizes_of
from kohort.reports.propose.looks import Look

_SAMPLE = 100_000
_MOST = 20
"""Number of columns that are compared with each other."""


def following(frame: pl.DataFrame, names: Sequence[str], looks: Mapping[str, Look]) -> dict[str, str]:
    """Columns whose values follow from those of another one, and what that is called; of two alike, the later one."""
    some = frame.select(names[:_MOST]).head(_SAMPLE)
    distinct = {name: some[name].n_unique() for name in some.columns}
    found: dict[str, str] = {}
    for one, other in combinations(some.columns, 2):
        if min(distinct[one], distinct[other]) < 2 or {one, other} & found.keys():
            continue
        together = some.select(one, other).n_unique()
        if together == distinct[one] < 0.5 * some.height:
            found[other] = one
        elif together == distinct[other] < 0.5 * some.height:
            found[one] = other
        elif _are_years_and_ages(some, one, other, looks):
            found[other] = one
    return found


def _are_years_and_ages(frame: pl.DataFrame, one: str, other: str, looks: Mapping[str, Look]) -> bool:
    """Whether one is a year and the other an age at about one time: their sums are hardly different."""
    if looks[one].is_of_years == looks[other].is_of_years or not (looks[one].is_number and looks[other].is_number):
        return False
    numbers = [frame[name].cast(pl.Float64, strict=False) for name in (one, other)]
    sums = (numbers[0] + numbers[1]).drop_nulls()
    return len(sums) > 1 and min(series.n_unique() for series in numbers) > 5 and sums.n_unique() <= 3


def singled_out(frame: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """What shares of records are alone with their values, as lines: on all columns, and the smallest that do most."""
    some = frame.select(names[:_MOST]).head(_SAMPLE)
    if not some.height:
        return []
    numbers = numbers_of(some)
    sizes = sizes_of(numbers)

    def alone(columns: Sequence[str]) -> float:
        return float((counts_of(numbers, sizes, columns) == 1).sum() / some.height)

    whole = alone(some.columns)
    lines = [f"As they are, {whole:.0%} of the records are alone with their values in the quasi-identifiers."]
    for size in (1, 2, 3):
        tried = list(combinations(some.columns, size))[: 400 // size]
        if not tried or size >= len(some.columns):
            break
        share, best = max(((alone(columns), columns) for columns in tried), key=lambda pair: pair[0])
        if share >= 0.05:
            which = " and ".join(map(repr, best))
            lines.append(f"{'Alone' if size == 1 else 'Together'}, {which} single out {share:.0%}.")
            if share > 0.8 * whole:
                break
    return lines
