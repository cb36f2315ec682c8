"""(epsilon, m)-anonymity (Li, Tao and Xiao 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.counting import at_most, kept_by_all
from kohort.privacy.arithmetic.parameters import exact
from kohort.privacy.arithmetic.surplus import with_allowance
from kohort.privacy.arithmetic.windows import Ints, crowd, inside, windows
from kohort.privacy.base import MODELS, Histogram, NumericModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule
from kohort.privacy.rules import windows as windows_rule


@MODELS.register("epsilon-m")
@dataclass(frozen=True)
class EpsilonM(NumericModel):
    """For every record, at most 1/m of its class have a sensitive number within epsilon of its own, itself included.

    Two classes that keep it may break it as one: values of one may lie between those of the other.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["pay"])
    >>> table, values = reference_of(policy, {"pay": ["40", "60", "50", "70"]}, [1, 1, 1, 1])
    >>> model = EpsilonM("pay", epsilon=15, m=2)
    >>> model.keeps(Histogram.of(np.array([0, 0, 1, 1]), values), table).tolist()
    [True, True]
    >>> model.keeps(Histogram.of_all(table), table).tolist()
    [False]
    """

    column: str
    """A sensitive column of numbers or dates. A missing value is near missing ones and no others."""
    epsilon: Annotated[float, Limits(least=0)]
    """Distance, in the unit of the column, days for dates; 0 or more. Both ends belong to the interval."""
    m: Annotated[int, Limits(least=2)]
    relative: bool = False
    """Whether the distance is epsilon times the size of the record's own number."""

    summary = "at most 1/m of a class lies within epsilon of any of its sensitive numbers"
    paper = "Li, Tao and Xiao, SIGMOD 2008"
    monotone = False

    @override
    def kept(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        near = inside(classes, *self._windows(table))
        return kept_by_all(classes, at_most(near, classes.sizes[classes.group], Fraction(1, self.m)))

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (windows_rule(*self._windows(table), self.m),)

    def refuses_numbers(self, table: Reference, allowance: int) -> str | None:
        """Why no release of a table with these values can keep the promise; or None.

        If all of some records are near one of them, in whatever class some of them are, then they are at most 1/m of
        every class, and so of the table. That is necessary and not always enough.
        """
        most, total = crowd(table.counts, *self._runs(table)), table.total
        # At best, all that are suppressed are of these.
        if (most - allowance) * self.m <= total - allowance:
            return None
        return (
            f"m = {self.m} is impossible for column {self.column!r} with epsilon = {self.epsilon}: values of {most:,} "
            f"of {total:,} records lie within epsilon of one of them{with_allowance(allowance)}; no more than "
            f"m = {(total - allowance) // (most - allowance)} can be kept"
        )

    def _windows(self, table: Reference) -> tuple[Ints, Ints]:
        return windows(table.column, exact(self.epsilon), relative=self.relative)

    def _runs(self, table: Reference) -> tuple[Ints, Ints]:
        """Runs of values such that any part of one has a value that all of the part are near."""
        first, last = self._windows(table)
        own = np.arange(table.size)
        is_left = np.zeros(table.size, bool)
        if self.relative:
            # Up to epsilon = 1 the largest of some numbers reaches all that a larger one would; then the smallest does.
            sign = 1 if exact(self.epsilon) <= 1 else -1
            numbers = table.column.numbers or ()
            is_left[: len(numbers)] = [sign * number > 0 for number in numbers]
        return np.where(is_left, first, own), np.where(is_left, own, last)
