"""Background knowledge: an outsider who can rule out a few sensitive values of a person is left with one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from kohort.audit.words import count
from kohort.policy import Policy
from kohort.privacy import Histogram
from kohort.reports.attacks.base import ATTACKS
from kohort.reports.attacks.classes import OnClasses, Said
from kohort.reports.attacks.result import Mitigation
from kohort.reports.attacks.scene import Ints, Sensitive
from kohort.reports.attacks.words import with_model


@ATTACKS.register("background")
@dataclass(frozen=True)
class Background(OnClasses):
    """Find the class of a person, and rule out values that the person is known not to have.

    In a class of d different values, d - 1 of them are enough.

    Notes
    -----
    Time O(n) for each table that it is compared with.
    """

    negations: int = 1
    """Values that the outsider can rule out."""

    summary = "sensitive values that an outsider learns who can rule out a few"
    paper = "Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, TKDD 2007"

    @override
    def refuses(self, column: Sensitive) -> str | None:
        if column.reference.size > self.negations + 1:
            return None
        return (
            f"it has {count(column.reference.size, 'value')} in all, so that who rules out the others knows it anyway."
        )

    @override
    def hit(self, column: Sensitive, classes: Histogram) -> Ints:
        return np.where(classes.distinct <= self.negations + 1, classes.sizes, 0)

    @override
    def said(self, column: Sensitive, policy: Policy, shares: str) -> Said:
        needed = np.sort(np.repeat(column.histogram.distinct - 1, column.histogram.sizes))
        median = int(needed[(len(needed) - 1) // 2])
        enough = f"for half of the people, {median:,} such facts are enough"
        if median < 2:
            enough = f"half of the people need {('none', 'no more than one')[median]}"
        known = range(min(policy.privacy.k, int(needed[-1]) + 1))
        return Said(
            f"Whoever finds the class of a person, and knows {count(self.negations, 'value')} of {column.name!r} that "
            f"the person does not have, learns the true one for {shares}; {enough}.",
            Mitigation(
                f"Promise at least {self.negations + 2} different values of {column.name!r} in every class.",
                with_model(policy, model="distinct-l-diversity", column=column.name, l=self.negations + 2),
            ),
            {
                "negations": self.negations,
                "fewest_needed": int(needed[0]),
                "median_needed": median,
                "disclosed_by_negations": {str(number): float(np.mean(needed <= number)) for number in known},
            },
        )
