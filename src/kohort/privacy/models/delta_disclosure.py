"""delta-disclosure privacy (Brickell and Shmatikov 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.counting import entries_above, entries_at_most, kept_by_all
from kohort.privacy.arithmetic.parameters import exact
from kohort.privacy.arithmetic.powers import exponential
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule, shares

_FURTHEST = Fraction(200)
"""No two shares in a table of 64-bit counts differ by a factor of e or 2 to this power."""

_NEAREST = 1 + Fraction(1, 10**45)
"""No two shares differ by a factor this near to 1, unless they are equal; digits of smaller deltas would be lost."""


@MODELS.register("delta-disclosure")
@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """No sensitive value is much more or less frequent in a class than in the whole table.

    With the shares p in the table and q in the class: |log(q / p)| < delta for every value of the table, strictly. So
    every class has every value. The whole table as one class keeps it, so that any delta can be kept. Two classes that
    keep it keep it as one.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["disease"])
    >>> table, values = reference_of(policy, {"disease": ["flu", "HIV", "flu", "flu"]}, [1, 1, 1, 1])
    >>> classes = Histogram.of(np.array([0, 0, 1, 1]), values)
    >>> [DeltaDisclosure("disease", 0.7, zeros=zeros).keeps(classes, table).tolist() for zeros in ("count", "skip")]
    [[True, False], [True, True]]
    """

    column: str
    """A sensitive column. A missing value counts as a value of its own. The table is that of the published records."""
    delta: Annotated[float, Limits(above=0)]
    log: Literal["e", "2"] = "e"
    """The base of the logarithm. ARX takes 2."""
    zeros: Literal["count", "skip"] = "count"
    """Whether a value that a class has not counts, and breaks the promise. ARX and pycanon skip it. Then somebody whose
    value is known not to be there is not protected, and two classes that keep it may break it as one."""

    summary = "the shares of a sensitive value in a class and in the table differ by less than a factor of exp(delta)"
    paper = "Brickell and Shmatikov, KDD 2008"
    strictness = ("delta", "less")
    compares = True

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        """Whether two classes that keep the promise keep it as one."""
        return self.zeros == "count"

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        upper, lower = self._limits(table)
        inside = entries_at_most(classes, upper, strict=True) & entries_above(classes, lower)
        kept = kept_by_all(classes, inside)
        return kept & (classes.distinct == table.size) if self.zeros == "count" else kept

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        upper, lower = self._limits(table)
        return (shares(upper, lower, strict=True, size=table.size, skip=self.zeros == "skip"),)

    def _limits(self, table: Reference) -> tuple[list[Fraction], list[Fraction]]:
        """The shares in a class that each value must be below and above."""
        factor = exponential(min(exact(self.delta), _FURTHEST), None if self.log == "e" else 2)
        factor = max(factor, _NEAREST)
        parts = [Fraction(count, table.total) for count in table.counts.tolist()]
        return [part * factor for part in parts], [part / factor for part in parts]
