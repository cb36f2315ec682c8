"""(epsilon, delta)^k-dissimilarity (Wang et al. 2009) of one column of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.neighbours import refuses_crowd, spares_enough
from kohort.privacy.arithmetic.parameters import exact
from kohort.privacy.arithmetic.windows import Ints, crowd, inside, windows
from kohort.privacy.base import MODELS, Histogram, NumericModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Near, Rule, dissimilar


@MODELS.register("dissimilarity")
@dataclass(frozen=True)
class Dissimilarity(NumericModel):
    """For every record, at least a share of delta of all others in its class have numbers farther away than epsilon.

    Of a class of n records, at least delta (n - 1). The k of the name is that of the policy. Two classes that keep it
    may break it as one: 1, 3, 5 and 2, 4, 6 keep (1.5, 1), and all six together do not.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=3, quasi_identifiers=["age"], sensitive=["pay"])
    >>> table, values = reference_of(policy, {"pay": ["1", "3", "5", "2", "4", "6"]}, [1] * 6)
    >>> model = Dissimilarity("pay", epsilon=1.5, delta=1)
    >>> model.keeps(Histogram.of(np.array([0, 0, 0, 1, 1, 1]), values), table).tolist()
    [True, True]
    >>> model.keeps(Histogram.of_all(table), table).tolist()
    [False]
    """

    column: str
    """A sensitive column of numbers or dates. A missing value is near missing ones, and farther than any epsilon from
    all others."""
    epsilon: Annotated[float, Limits(least=0)]
    """Distance, in the unit of the column, days for dates; 0 or more. A number exactly so far away is near."""
    delta: Annotated[float, Limits(above=0, most=1)]

    summary = "for every record, a share of delta of the others in its class have numbers farther away than epsilon"
    paper = "Wang et al., ICDE 2009, (epsilon, delta)^k-dissimilarity"
    monotone = False

    @override
    def kept(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return spares_enough(classes, inside(classes, *self._windows(table)), exact(self.delta))

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (dissimilar(Near(np.column_stack(self._windows(table))), exact(self.delta)),)

    @override
    def refuses_numbers(self, table: Reference, allowance: int) -> str | None:
        _, last = self._windows(table)
        # From any value to the last that is near it, all are near one another.
        most = crowd(table.counts, np.arange(table.size), last)
        return refuses_crowd(self.columns, self.epsilon, self.delta, most, table.total, allowance)

    def _windows(self, table: Reference) -> tuple[Ints, Ints]:
        return windows(table.column, exact(self.epsilon))
