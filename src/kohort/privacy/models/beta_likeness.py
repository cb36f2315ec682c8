"""beta-likeness (Cao and Karras 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.counting import entries_at_most, kept_by_all
from kohort.privacy.arithmetic.parameters import exact
from kohort.privacy.arithmetic.powers import logarithm
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule, shares


@MODELS.register("beta-likeness")
@dataclass(frozen=True)
class BetaLikeness(SensitiveModel):
    """No sensitive value is much more frequent in a class than in the whole table: its share grows by beta at most.

    With the shares p in the table and q in the class: (q - p) / p <= beta. The enhanced form limits frequent values
    further, by -ln p where that is less than beta. A value may become rarer without limit. The whole table as one
    class keeps it, so that any beta can be kept. Two classes that keep it keep it as one.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["disease"])
    >>> table, values = reference_of(policy, {"disease": ["flu", "flu", "flu", "HIV"]}, [1, 1, 1, 1])
    >>> classes = Histogram.of(np.array([0, 0, 1, 1]), values)
    >>> [BetaLikeness("disease", beta, enhanced=False).keeps(classes, table).tolist() for beta in (1, 0.5)]
    [[True, True], [True, False]]
    >>> BetaLikeness("disease", beta=1).keeps(classes, table).tolist()
    [False, True]
    """

    column: str
    """A sensitive column. A missing value counts as a value of its own. The table is that of the published records."""
    beta: Annotated[float, Limits(above=0)]
    enhanced: bool = True
    """Whether the limit is the smaller of beta and -ln p, for each value by itself."""

    summary = "the share of a sensitive value in a class exceeds that in the table by a factor of 1 + beta at most"
    paper = "Cao and Karras, PVLDB 2012"
    strictness = ("beta", "less")
    compares = True

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return kept_by_all(classes, entries_at_most(classes, self._limits(table)))

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (shares(self._limits(table), None, strict=False, size=table.size),)

    def _limits(self, table: Reference) -> list[Fraction]:
        """The largest share of each value in a class."""
        by_count = {count: self._limit(Fraction(count, table.total)) for count in set(table.counts.tolist())}
        return [by_count[count] for count in table.counts.tolist()]

    def _limit(self, share: Fraction) -> Fraction:
        growth = exact(self.beta)
        if self.enhanced:
            # The logarithm of a fraction other than 1 is none: a share cannot meet this limit exactly.
            growth = min(growth, -logarithm(share))
        return share * (1 + growth)
