"""How far beyond its promise a release goes: the strictest parameter that every class still keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kohort.privacy import Promise, SizeModel
from kohort.privacy.base import Histogram, PrivacyModel, SensitiveModel

HALVINGS = 24
"""So often a range of numbers is halved."""


def reached(
    models: Sequence[PrivacyModel], promises: Sequence[Promise], labels: NDArray[np.integer], sizes: NDArray[np.int64]
) -> dict[str, float]:
    """What classes reach of each model that is measured by one figure, by its name with column and parameter."""
    found = {f"{model.name}: share": float(model.figure(sizes)) for model in models if isinstance(model, SizeModel)}
    for promise in promises:
        model = promise.model
        if model.strictness is not None:
            parameter, better = model.strictness
            limit = _limit(model, parameter, better, promise, Histogram.of(labels, promise.values))
            found[f"{model.name}: {parameter} of {', '.join(model.columns)}"] = limit
    return found


def _limit(model: SensitiveModel, parameter: str, better: str, promise: Promise, classes: Histogram) -> float:
    """The strictest value of a parameter that all classes keep; that of the policy is kept."""
    start = getattr(model, parameter)

    def keeps(value: float) -> bool:
        try:
            stricter = replace(model, **{parameter: value})  # type: ignore[type-var]
        except ValueError:  # beyond what the model can promise
            return False
        return bool(stricter.keeps(classes, promise.table).all())

    if better == "less":
        return _least(start, keeps)
    return _most_whole(start, keeps) if isinstance(start, int) else _most(float(start), keeps)


def _least(good: float, keeps: Callable[[float], bool]) -> float:
    """The least number that is kept, to seven digits or so, rounded to the side that is kept."""
    if keeps(0.0):
        return 0.0
    low = 0.0
    for _ in range(HALVINGS):
        middle = (low + good) / 2
        low, good = (low, middle) if keeps(middle) else (middle, good)
    return good


def _most(good: float, keeps: Callable[[float], bool]) -> float:
    high = 2 * good or 1.0
    for _ in range(HALVINGS):
        if not keeps(high):
            break
        good, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (good + high) / 2
        good, high = (middle, high) if keeps(middle) else (good, middle)
    return good


def _most_whole(good: int, keeps: Callable[[float], bool]) -> int:
    high = 2 * good
    while keeps(high):
        good, high = high, 2 * high
    while high - good > 1:
        middle = (good + high) // 2
        good, high = (middle, high) if keeps(middle) else (good, middle)
    return good
