"""(k, e)-anonymity (Zhang et al. 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.counting import whole, whole_numbers, widened
from kohort.privacy.arithmetic.parameters import decimal, exact, rounded_down
from kohort.privacy.base import MODELS, Histogram, NumericModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule, distinct, spread


@MODELS.register("k-e")
@dataclass(frozen=True)
class KE(NumericModel):
    """Every class has at least k different sensitive numbers, and the largest is at least e above the smallest.

    Two classes that keep it keep it as one.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["pay"])
    >>> table, values = reference_of(policy, {"pay": ["20", "35", "21", "22"]}, [1, 1, 1, 1])
    >>> KE("pay", k=2, e=10).keeps(Histogram.of(np.array([0, 0, 1, 1]), values), table).tolist()
    [True, False]
    >>> KE("pay", k=2, e=20).refuses_values(table)
    "e = 20 is impossible for column 'pay': all its values lie closer together; at most e = 15 can be kept"
    """

    column: str
    """A sensitive column of numbers or dates. Only known values count: missing ones are neither different nor far."""
    k: int
    """Number of different values, at least 1. The policy has a k of its own, of records."""
    e: Annotated[float, Limits(least=0)]
    """Width of the range, in the unit of the column, days for dates; 0 or more."""

    summary = "at least k different sensitive numbers in every class, over a range of at least e"
    paper = "Zhang et al., ICDE 2007"
    strictness = ("e", "more")

    @override
    def kept(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        column = table.column
        known = classes.value < column.known
        group, value = classes.group[known], classes.value[known]
        enough = np.bincount(group, minlength=classes.classes) >= self.k
        low = np.full(classes.classes, column.size)
        high = np.full(classes.classes, -1)
        np.minimum.at(low, group, value)
        np.maximum.at(high, group, value)
        kept: NDArray[np.bool_] = enough & (high >= 0)
        places, factor = whole_numbers(column.numbers or ())
        [places] = widened(2 * int(np.abs(places).max(initial=0)), places)
        [least] = whole([ceil(exact(self.e) * factor)])
        kept[kept] = places[high[kept]] - places[low[kept]] >= least
        return kept

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        numbers, factor = table.column.scaled
        least = ceil(exact(self.e) * factor)
        return distinct(self.k, table.column.known), spread(numbers, least)

    @override
    def refuses_numbers(self, table: Reference, allowance: int) -> str | None:
        column = table.column  # who is suppressed adds no value
        if column.known < self.k:
            values = f"{column.known} known value{'s' if column.known != 1 else ''}"
            can = f"at most k = {column.known} can be kept" if column.known else "no k can be kept"
            return f"k = {self.k} is impossible for column {self.column!r}: it has {values}; {can}"
        assert column.numbers is not None
        width = column.numbers[-1] - column.numbers[0]
        if width >= exact(self.e):
            return None
        # Two digits: the width may be a value of the table.
        can = f"at most e = {decimal(rounded_down(width, 2))} can be kept" if width else "no e above 0 can be kept"
        return f"e = {self.e} is impossible for column {self.column!r}: all its values lie closer together; {can}"
