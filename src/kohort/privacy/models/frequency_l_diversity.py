"""Frequency l-diversity (He et al. 2012, paper 002, definition 3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.surplus import capped, with_allowance
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule, shares


@MODELS.register("frequency-l-diversity")
@dataclass(frozen=True)
class FrequencyLDiversity(SensitiveModel):
    """No sensitive value has more than a share of 1/l of any class.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["disease"])
    >>> table, _ = reference_of(policy, {"disease": ["flu", "cold"]}, [5, 3])
    >>> FrequencyLDiversity("disease", l=2).refuses_values(table)
    "l = 2 is impossible for column 'disease': one value has 5 of 8 records; at most l = 1 can be kept"
    """

    column: str
    """A sensitive column. A missing value counts as a value of its own."""
    l: Annotated[int, Limits(least=2)]  # noqa: E741 - the name that everybody knows it by

    summary = "no sensitive value has more than 1/l of a class"
    paper = "He et al., PAKDD 2012 (002)"
    strictness = ("l", "more")

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return classes.largest * self.l <= classes.sizes

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (shares([Fraction(1, self.l)] * table.size, None, strict=False, size=table.size),)

    @override
    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        # The fewer records a value may have, the smaller is the largest share.
        most = max(1, capped(table.counts, allowance))
        total = int(np.minimum(table.counts, most).sum())
        if most * self.l <= total:
            return None
        return (
            f"l = {self.l} is impossible for column {self.column!r}: one value has {int(table.counts.max()):,} of "
            f"{table.total:,} records{with_allowance(allowance)}; at most l = {total // most} can be kept"
        )
