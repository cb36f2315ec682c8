"""Distinct l-diversity (Machanavajjhala et al. 2006; Truta and Vinay 2006 call it p-sensitivity)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference, refuses_few
from kohort.privacy.rules import Rule, distinct


@MODELS.register("distinct-l-diversity")
@dataclass(frozen=True)
class DistinctLDiversity(SensitiveModel):
    """Every class has at least l different sensitive values.

    Two classes that keep it keep it as one.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["disease"])
    >>> table, values = reference_of(policy, {"disease": ["flu", "cold", "flu", "flu"]}, [1, 1, 1, 1])
    >>> DistinctLDiversity("disease", l=2).keeps(Histogram.of(np.array([0, 0, 1, 1]), values), table).tolist()
    [True, False]
    >>> DistinctLDiversity("disease", l=5).refuses_values(table)
    "l = 5 is impossible for column 'disease': it has 2 values; at most l = 2 can be kept"
    """

    column: str
    """A sensitive column. A missing value counts as a value of its own."""
    l: Annotated[int, Limits(least=2)]  # noqa: E741 - the name that everybody knows it by

    summary = "every class has at least l different sensitive values"
    paper = "Machanavajjhala et al., ICDE 2006; p-sensitivity: Truta and Vinay 2006"
    strictness = ("l", "more")

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return classes.distinct >= self.l

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (distinct(self.l, table.size),)

    @override
    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        # who is suppressed adds no value
        return None if table.size >= self.l else refuses_few("l", self.l, table.column)
