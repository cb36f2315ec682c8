"""Borders of numbers that lose least, at even places."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_CLASSES = 16
"""Intervals of the finest level, at most."""
_PLACES = 200
"""Even numbers that are tried as borders, about."""


def suggest_cuts(values: Floats, records: Floats, *, smallest: int = 10) -> list[list[float]]:
    """Propose borders for each level, finest first; none for numbers that cannot be cut.

    Of all cuts into this number of intervals, these have the least sum of records times width, with at least
    `smallest` records in each interval. Each coarser level joins the neighbours that this makes least worse.

    Parameters
    ----------
    values : ndarray
        Distinct numbers, ascending.
    records : ndarray
        Records of each.
    smallest : int
        Records of an interval, at least.

    Examples
    --------
    >>> suggest_cuts(np.arange(0.0, 40.0), np.ones(40), smallest=10)
    [[10, 20, 30], [20]]
    """
    places = _even_places(values)
    below = np.concatenate([[0.0], np.cumsum(records)])[np.searchsorted(values, places)]
    total, classes = float(records.sum()), min(_CLASSES, len(places) + 1, int(records.sum() // max(1, smallest)))
    ends = np.concatenate([[min(values[0], places[0]) if len(places) else values[0]], places, [values[-1]]])
    counted = np.concatenate([[0.0], below, [total]])
    chosen = _cut(ends, counted, classes, smallest)
    levels = []
    while chosen:
        levels.append([_plain(ends[place]) for place in chosen])
        for _ in range((len(chosen) + 1) // 2):
            chosen = _without_one(ends, counted, chosen)
    return levels


def _even_places(values: Floats) -> Floats:
    """Even numbers between the smallest and the largest value: multiples of 1, 2 or 5 and a power of ten."""
    spread = float(values[-1] - values[0])
    if spread <= 0 or not math.isfinite(spread):
        return np.empty(0)
    rough = max(spread / _PLACES, float(np.diff(values).min()))
    power = 10.0 ** math.floor(math.log10(rough) + 1e-9)
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    places = np.arange(math.floor(values[0] / step) + 1, math.ceil(values[-1] / step) + 1) * step
    between: Floats = places[(places > values[0]) & (places <= values[-1])]
    return between


def _cut(ends: Floats, counted: Floats, classes: int, smallest: int) -> list[int]:
    """The places of the best borders, by dynamic programming over the number of intervals."""
    size = len(ends)
    records = counted[None, :] - counted[:, None]
    cost = np.where(records >= smallest, records * (ends[None, :] - ends[:, None]), np.inf)
    best, choices = cost[0], []
    found = (float(best[-1]), 0)
    for number in range(1, classes):
        through = best[:, None] + cost
        choices.append(through.argmin(axis=0))
        best = through.min(axis=0)
        if best[-1] < found[0]:
            found = (float(best[-1]), number)
    places, place = [], size - 1
    for number in range(found[1], 0, -1):
        place = int(choices[number - 1][place])
        places.append(place)
    return sorted(places)


def _without_one(ends: Floats, counted: Floats, chosen: list[int]) -> list[int]:
    """The borders without the one that is missed least."""
    if not chosen:
        return chosen
    around = [0, *chosen, len(ends) - 1]

    def worse(number: int) -> float:
        low, middle, high = around[number - 1 : number + 2]
        joined = (counted[high] - counted[low]) * (ends[high] - ends[low])
        apart = (counted[middle] - counted[low]) * (ends[middle] - ends[low])
        return float(joined - apart - (counted[high] - counted[middle]) * (ends[high] - ends[middle]))

    least = min(range(1, len(around) - 1), key=worse)
    return [place for number, place in enumerate(chosen, 1) if number != least]


def _plain(number: float) -> float:
    rounded = round(float(number), 12)
    return int(rounded) if rounded.is_integer() else rounded
