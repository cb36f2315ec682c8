"""Variance control (LeFevre, DeWitt and Ramakrishnan 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.counting import Whole, sums, whole_numbers, widened
from kohort.privacy.arithmetic.parameters import decimal, exact, rounded_down
from kohort.privacy.arithmetic.surplus import with_allowance
from kohort.privacy.base import MODELS, Histogram, NumericModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule
from kohort.privacy.rules import variance as variance_rule


@MODELS.register("variance-control")
@dataclass(frozen=True)
class VarianceControl(NumericModel):
    """The variance of the sensitive numbers is at least a limit in every class.

    It is the population variance, the mean square of the distance to the mean: with it, two classes that keep the
    promise keep it as one. With the sample variance, which divides by n - 1, that would be wrong.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["pay"])
    >>> table, values = reference_of(policy, {"pay": ["20", "24", "21", "22"]}, [1, 1, 1, 1])
    >>> VarianceControl("pay", variance=4).keeps(Histogram.of(np.array([0, 0, 1, 1]), values), table).tolist()
    [True, False]
    >>> VarianceControl("pay", variance=9).refuses_values(table)
    "variance = 9 is impossible for column 'pay': even all its values vary less; at most variance = 2.1 can be kept"
    """

    column: str
    """A sensitive column of numbers or dates. Only known values count; a class without any breaks the promise."""
    variance: Annotated[float, Limits(above=0)]
    """Above 0, in the square of the unit of the column, of days for dates."""

    summary = "the population variance of the sensitive numbers is at least a limit in every class"
    paper = "LeFevre, DeWitt and Ramakrishnan, TODS 2008"
    strictness = ("variance", "more")

    @override
    def kept(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        squares, records, factor = _squares(classes, table)
        least = exact(self.variance) * factor**2
        squares, records = squares.astype(object), records.astype(object)
        return (records > 0) & (squares * least.denominator >= records * records * least.numerator)

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        numbers, factor = table.column.scaled
        return (variance_rule(numbers, float(exact(self.variance) * factor**2)),)

    def refuses_numbers(self, table: Reference, allowance: int) -> str | None:
        """Why no release of a table with these values can keep the promise; or None.

        A class may vary more than the table, but not all classes: the variance of the table is at least the mean of
        theirs.
        """
        if not table.column.known:
            return f"variance-control is impossible for column {self.column!r}: it has no known values"
        everything = Histogram.of_all(table)
        if self.keeps(everything, table).all():
            return None
        [squares], [records], factor = _squares(everything, table)
        found = Fraction(int(squares), (int(records) * factor) ** 2)
        if allowance:
            # The squares of some are at most those of all; and no variance is more than that of the two ends.
            numbers = table.column.numbers or ()
            left = max(1, int(records) - allowance)
            found = min(found * int(records) / left, (numbers[-1] - numbers[0]) ** 2 / 4)
            if exact(self.variance) <= found:
                return None
        can = f"at most variance = {decimal(rounded_down(found, 2))}" if found else "no variance above 0"
        return (
            f"variance = {self.variance} is impossible for column {self.column!r}: even all its values vary less"
            f"{with_allowance(allowance)}; {can} can be kept"
        )


def _squares(classes: Histogram, table: Reference) -> tuple[Whole, Whole, int]:
    """For each class the variance, times the square of the known records and of a factor; those records; the factor."""
    places, factor = whole_numbers(table.column.numbers or ())
    smallest, largest = int(places.min(initial=0)), int(places.max(initial=0))
    known = classes.value < table.column.known
    group, count, number = classes.group[known], classes.count[known], classes.classes
    # A shift changes no variance and keeps numbers small; sums of squares must fit, times the records of a class.
    [places] = widened(2 * max(abs(smallest), abs(largest)), places)
    shifted = places - places.min() if len(places) else places
    span = int(shifted.max(initial=0))
    shifted, count = widened((span * table.total) ** 2, shifted, count)
    value = shifted[classes.value[known]]
    records, total = sums(group, count, number), sums(group, count * value, number)
    return records * sums(group, count * value * value, number) - total * total, records, factor
