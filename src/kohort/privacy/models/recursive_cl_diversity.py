"""Recursive (c, l)-diversity (Machanavajjhala et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.counting import at_most
from kohort.privacy.arithmetic.parameters import decimal, exact, rounded_up
from kohort.privacy.arithmetic.surplus import capped, with_allowance
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference, refuses_few
from kohort.privacy.rules import Rule, recursive


@MODELS.register("recursive-cl-diversity")
@dataclass(frozen=True)
class RecursiveCLDiversity(SensitiveModel):
    """The most frequent value of a class occurs less than c times as often as the l-th and all rarer ones together.

    With counts r1 >= r2 >= ... of the values in the class: r1 < c (r_l + r_(l+1) + ...), strictly. So even somebody
    who can rule out l - 2 values is not left with one that is too frequent. A class with fewer than l values breaks
    it. Two classes that keep it keep it as one.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["disease"])
    >>> table, _ = reference_of(policy, {"disease": ["flu", "cold", "acne"]}, [6, 2, 1])
    >>> RecursiveCLDiversity("disease", c=2.5, l=2).keeps(Histogram.of_all(table), table).tolist()
    [True]
    >>> RecursiveCLDiversity("disease", c=2, l=2).refuses_values(table)
    "c = 2 is impossible for column 'disease' with l = 2: even the whole table breaks it; c = 2.01 can be kept"
    """

    column: str
    """A sensitive column. A missing value counts as a value of its own."""
    c: Annotated[float, Limits(above=0)]
    """Above 0. The larger, the weaker."""
    l: Annotated[int, Limits(least=2)]  # noqa: E741 - the name that everybody knows it by

    summary = "the most frequent value has less than c times the records of the l-th and all rarer ones"
    paper = "Machanavajjhala et al., ICDE 2006"
    strictness = ("c", "less")

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return ~at_most(self._tails(classes), classes.largest, 1 / exact(self.c))

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (recursive(exact(self.c), self.l),)

    @override
    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        # The fewer records a value may have, the more are the rare ones in proportion.
        most = max(1, capped(table.counts, allowance))
        everything = replace(Histogram.of_all(table), count=np.minimum(table.counts, most))
        if table.size < self.l:
            return refuses_few("l", self.l, table.column)
        if self.keeps(everything, table).all():
            return None
        least = rounded_up(Fraction(int(everything.largest[0]), int(self._tails(everything)[0])), strict=True)
        return (
            f"c = {self.c} is impossible for column {self.column!r} with l = {self.l}: "
            f"even the whole table breaks it{with_allowance(allowance)}; c = {decimal(least)} can be kept"
        )

    def _tails(self, classes: Histogram) -> NDArray[np.int64]:
        """Records of each class with its l-th most frequent value or a rarer one."""
        order = np.lexsort((-classes.count, classes.group))
        group, count = classes.group[order], classes.count[order]
        starts = np.append(0, np.cumsum(classes.distinct))[:-1]
        rare = np.arange(len(group)) - starts[group] >= self.l - 1
        tails = np.zeros(classes.classes, np.int64)
        np.add.at(tails, group[rare], count[rare])
        return tails
