"""Proximity: the sensitive values of a class are different, and yet all nearly the same."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from typing_extensions import override

from kohort.policy import Policy
from kohort.privacy import Histogram
from kohort.privacy.arithmetic.windows import inside, windows
from kohort.reports.attacks.base import ATTACKS
from kohort.reports.attacks.classes import OnClasses, Said
from kohort.reports.attacks.result import Mitigation
from kohort.reports.attacks.scene import Ints, Sensitive
from kohort.reports.attacks.words import with_model
from kohort.reports.words import percent

T = 0.2


@ATTACKS.register("proximity")
@dataclass(frozen=True)
class Proximity(OnClasses):
    """Find the class of a person, and learn nearly what the sensitive value is.

    Numbers and dates are near each other within a share of their whole range, values of a hierarchy under one node
    that does not hold all of them.

    Notes
    -----
    Time O(n log n), and O(n) for each table that it is compared with.
    """

    epsilon: float = 0.1
    """The window, as a share of the range of the column."""

    summary = "classes whose sensitive values all lie close together, or under one node of their hierarchy"
    paper = "Li, Tao and Xiao, SIGMOD 2008"

    @override
    def refuses(self, column: Sensitive) -> str | None:
        described = column.reference.column
        if described.numbers is not None:
            return None
        if described.taxonomy is None or described.leaves is None:
            return (
                "its values are neither numbers nor dates, and have no hierarchy that says which are near each other."
            )
        if (described.leaves < 0).any():
            return "some of its values are not in its hierarchy."
        return None if described.taxonomy.height_edges > 1 else "its hierarchy has no node between values and root."

    @override
    def hit(self, column: Sensitive, classes: Histogram) -> Ints:
        ends = np.flatnonzero(np.append(classes.group[1:] != classes.group[:-1], True))
        starts = np.append(0, ends[:-1] + 1)
        near = self._near(column, classes.value[starts], classes.value[ends])
        return np.where(near, classes.sizes, 0)

    def _near(self, column: Sensitive, low: Ints, high: Ints) -> np.ndarray:
        """Whether the smallest and the largest value of each class are near; a missing one is near itself alone."""
        described = column.reference.column
        known = high < described.known
        last = np.maximum(np.where(known, high, low), 0)
        low = np.minimum(low, described.known - 1)
        last = np.minimum(last, described.known - 1)
        if described.numbers is not None:
            places = np.array([float(number) for number in described.numbers])
            near = places[last] - places[low] <= self.epsilon * (places[-1] - places[0])
        else:
            assert described.taxonomy is not None
            assert described.leaves is not None
            node = described.taxonomy.lca(described.leaves[low], described.leaves[last])
            span = described.taxonomy.last_leaf[node] - described.taxonomy.first_leaf[node] + 1
            near = span < described.taxonomy.n_leaves
        found: np.ndarray = near & known
        return found

    @override
    def said(self, column: Sensitive, policy: Policy, shares: str) -> Said:
        numeric = column.reference.column.numbers is not None
        how = (
            f"lie within {percent(self.epsilon)} of the range of the column"
            if numeric
            else "belong to one group of its hierarchy"
        )
        return Said(
            f"Whoever finds the class of a person learns nearly what the {column.name!r} is for {shares}: all values "
            f"of the class {how}.",
            Mitigation(
                f"Promise that the values of {column.name!r} in every class are spread as in the table.",
                with_model(
                    policy,
                    model="t-closeness",
                    column=column.name,
                    t=T,
                    distance="ordered" if numeric else "hierarchical",
                ),
            ),
            self._figures(column) if numeric else {},
        )

    def _figures(self, column: Sensitive) -> dict[str, float]:
        """The largest share of a class that lies within epsilon of one of its values."""
        classes, described = column.histogram, column.reference.column
        numbers = described.numbers or ()
        reach = Fraction(str(self.epsilon)) * (numbers[-1] - numbers[0])
        within = inside(classes, *windows(described, reach))
        crowd = np.zeros(classes.classes, np.int64)
        np.maximum.at(crowd, classes.group, within)
        shares = crowd / classes.sizes
        return {
            "epsilon": self.epsilon,
            "largest_share_near": float(shares.max()),
            "mean_share_near": float(shares.mean()),
        }
