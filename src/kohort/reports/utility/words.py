"""Utility in plain words, and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kohort.reports.learning import TOLD_APART
from kohort.reports.utility.learned import Learned
from kohort.reports.words import percent

if TYPE_CHECKING:
    from kohort.reports.utility.utility import PrivateUtility, PublicUtility

FEW = 0.05
"""A share below this is little."""


def of_public(found: PublicUtility) -> list[str]:
    """What everybody can compute."""
    kept = found.rows - found.suppressed
    if found.suppressed:
        first = f"{kept:,} of {found.rows:,} rows count here; the others are * and stand for suppressed records."
    else:
        first = f"All {found.rows:,} rows count here: none stands for a suppressed record."
    return [first, *_losses(found)]


def of_private(found: PrivateUtility, public: PublicUtility) -> list[str]:
    """What its steward can compute."""
    kept = found.records - found.suppressed
    first = f"{kept:,} of {found.records:,} records are in the release; {found.suppressed:,} are suppressed"
    first += " and count in the loss alone." if found.suppressed else "."
    return [
        first,
        *_losses(found, public.measure),
        *_distributions(found),
        *_recovered(found),
        *_associations(found),
        *_queries(found),
        *map(_learned, found.learned),
        *found.left_out,
    ]


def _losses(found: PublicUtility | PrivateUtility, measure: str = "") -> list[str]:
    name, loss = next(iter(found.losses.items()))
    sentence = (
        f"The information loss is {loss.total:.4f} by {measure or name}, from 0 (nothing generalized) to 1 (all is *)"
    )
    worst = max(found.shares, key=lambda column: found.shares[column])
    if loss.total > 0 and len(found.shares) > 1:
        sentence += f"; most of it, {percent(round(found.shares[worst], 2))}, is of column {worst!r}"
    return [sentence + "."]


def _distributions(found: PrivateUtility) -> list[str]:
    changed = [one for one in found.changes if not one.published_as_is]
    if not changed:
        return []
    worst = max(changed, key=lambda one: one.shift)
    if worst.shift < FEW:
        return [
            f"Every column has nearly the distribution that it had: {percent(worst.shift)} of values differ at most."
        ]
    mean = sum(one.shift for one in changed) / len(changed)
    return [
        f"Distributions: {percent(mean)} of the values of a generalized column would have to change to be as in the "
        f"original (mean of {len(changed)} columns), {percent(worst.shift)} in {worst.column!r}."
    ]


def _recovered(found: PrivateUtility) -> list[str]:
    numbers = [(one.column, one.recovered) for one in found.changes if one.recovered and not one.published_as_is]
    if not numbers:
        return []
    mean = max(abs(one.mean_error) for _, one in numbers)
    name, worst = max(numbers, key=lambda one: one[1].largest_quantile_error)
    return [
        f"Means of numbers and dates are within {mean:.2f} standard deviations of those of the original, quantiles "
        f"within {worst.largest_quantile_error:.2f} (worst in {name!r})."
    ]


def _associations(found: PrivateUtility) -> list[str]:
    pairs = found.associations
    if pairs.mean_change is None:
        return []
    worst, drawn = pairs.pairs[0], f"{pairs.possible:,} pairs"
    if len(pairs.pairs) < pairs.possible:
        drawn = f"{len(pairs.pairs)} of {drawn}"
    return [
        f"Associations: how much one column says of another, 0 to 1, changes by {pairs.mean_change:.3f} on average "
        f"({drawn}), most for {worst.first!r} and {worst.second!r}: {worst.original:.2f} becomes {worst.release:.2f}."
    ]


def _queries(found: PrivateUtility) -> list[str]:
    asked = found.queries
    if asked.median is None:
        return []
    return [
        f"Counts: half of {asked.count:,} random questions are answered within {percent(asked.median)} of the true "
        f"count, nine of ten within {percent(asked.quantiles['90%'])}."
    ]


def _learned(one: Learned) -> str:
    ends = f"{percent(one.release.low)} to {percent(one.release.high)}"
    release, original = f"{percent(one.release.value)} ({ends})", f"{percent(one.original.value)}"
    if one.task == "category":
        usual = f"the most frequent value alone about {percent(one.baseline.value)}"
        sentence = (
            f"a model that learned from the release is right about {release} of {one.tested:,} held-out records, "
            f"one that learned from the original about {original}, {usual}"
        )
    else:
        sentence = (
            f"a model that learned from the release explains {release} of the variance of {one.tested:,} held-out "
            f"records, one that learned from the original {original}"
        )
    if one.kept is None:
        end = "; the original itself says too little about it to compare"
    else:
        end = f"; {percent(round(max(one.kept, 0), 2))} of what can be learned is kept"
    many = (
        f" (the {TOLD_APART} most frequent of its {one.values:,} values, and the others as one)" if one.joined else ""
    )
    return f"Predicting {one.target!r}{many}: {sentence}{end}."


def plain(data: Any) -> Any:
    """Nothing but what JSON has."""
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    return data
