"""Skewness: in a class, a sensitive value is much more frequent than in the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from kohort.policy import Policy
from kohort.privacy import Histogram, Reference
from kohort.privacy.arithmetic.counting import sums
from kohort.privacy.arithmetic.distances import equal_work, ordered_work, tree_work
from kohort.reports.attacks.base import ATTACKS
from kohort.reports.attacks.classes import OnClasses, Said
from kohort.reports.attacks.result import Mitigation
from kohort.reports.attacks.scene import Ints, Sensitive
from kohort.reports.attacks.words import with_model


@ATTACKS.register("skewness")
@dataclass(frozen=True)
class Skewness(OnClasses):
    """Believe of a person what the class says, and be twice as sure of the truth as by the whole table.

    Notes
    -----
    Time O(n) for each table that it is compared with, and O(n log n) for the distances.
    """

    times: float = 2.0
    """By what factor the true value must be more probable in the class than in the table."""

    summary = "people whose sensitive value is much more frequent in their class than in the table"
    paper = "Li, Li and Venkatasubramanian, ICDE 2007; Cao and Karras, PVLDB 2012, for the ratio"

    @override
    def hit(self, column: Sensitive, classes: Histogram) -> Ints:
        return sums(classes.group, np.where(_ratios(column, classes) > self.times, classes.count, 0), classes.classes)

    @override
    def said(self, column: Sensitive, policy: Policy, shares: str) -> Said:
        classes, table = column.histogram, column.reference
        largest = float(_ratios(column, classes).max())
        name, t = _distance(classes, table)
        return Said(
            f"The class of a person makes the true {column.name!r} more than {self.times:g} times as probable as the "
            f"whole table does for {shares}; at most, it makes a value {largest:,.1f} times as probable.",
            Mitigation(
                f"Promise that no value of {column.name!r} is more than {self.times:g} times as frequent in a class.",
                with_model(policy, model="beta-likeness", column=column.name, beta=self.times - 1),
            ),
            {
                "largest_ratio": largest,
                "beta": largest - 1,
                "delta": float(np.abs(np.log(_ratios(column, classes))).max()),
                "t": t,
                "distance": name,
            },
        )


def _ratios(column: Sensitive, classes: Histogram) -> np.ndarray:
    """How much more frequent each value of a class is there than in the table."""
    prior = column.reference.counts / column.reference.total
    found: np.ndarray = classes.count / classes.sizes[classes.group] / prior[classes.value]
    return found


def _distance(classes: Histogram, table: Reference) -> tuple[str, float]:
    """The largest distance of a class from the table, by the distance that suits the values."""
    column = table.column
    if column.is_numeric:
        name, (work, unit) = "ordered", ordered_work(classes, table)
    elif column.leaves is not None and (column.leaves >= 0).all():
        name, (work, unit) = "hierarchical", tree_work(classes, table)
    else:
        name, (work, unit) = "equal", equal_work(classes, table)
    return name, float((work.astype(float) / (classes.sizes.astype(float) * unit * table.total)).max())
