"""Homogeneity: everybody in the class has the same sensitive value, so the class discloses it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from kohort.policy import Policy
from kohort.privacy import Histogram
from kohort.reports.attacks.base import ATTACKS
from kohort.reports.attacks.classes import OnClasses, Said
from kohort.reports.attacks.result import Mitigation
from kohort.reports.attacks.scene import Ints, Sensitive
from kohort.reports.attacks.words import with_model


@ATTACKS.register("homogeneity")
@dataclass(frozen=True)
class Homogeneity(OnClasses):
    """Find the class of a person, and read the sensitive value that all of its records share.

    Notes
    -----
    Time O(n) for each table that it is compared with.
    """

    summary = "classes in which all records have one sensitive value"
    paper = "Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, TKDD 2007"
    certain = True

    @override
    def hit(self, column: Sensitive, classes: Histogram) -> Ints:
        return np.where(classes.distinct == 1, classes.sizes, 0)

    @override
    def said(self, column: Sensitive, policy: Policy, shares: str) -> Said:
        alone = int((column.histogram.distinct == 1).sum())
        if alone:
            sentence = (
                f"Whoever finds the class of a person learns the {column.name!r} of {shares} for certain, as everybody "
                "in the class has the same."
            )
        else:
            sentence = f"In no class has everybody the same {column.name!r}, so none gives it away by itself."
        mitigation = Mitigation(
            f"Promise at least 2 different values of {column.name!r} in every class.",
            with_model(policy, model="distinct-l-diversity", column=column.name, l=2),
        )
        if column.reference.size == 1:
            mitigation = Mitigation(f"Leave {column.name!r} out: everybody in the table has the same.")
        return Said(sentence, mitigation, {"classes": column.histogram.classes, "classes_of_one_value": alone})
