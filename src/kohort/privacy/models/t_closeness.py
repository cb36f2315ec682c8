"""t-closeness (Li, Li and Venkatasubramanian 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy import Policy
from kohort.policy.parameters import Share
from kohort.privacy.arithmetic.counting import at_most
from kohort.privacy.arithmetic.distances import (
    equal_parts,
    equal_work,
    ordered_parts,
    ordered_work,
    tree_parts,
    tree_work,
)
from kohort.privacy.arithmetic.parameters import exact
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference, SensitiveColumn, taxonomy_of
from kohort.privacy.rules import Rule, distance

_WORK = {"equal": equal_work, "ordered": ordered_work, "hierarchical": tree_work}


@MODELS.register("t-closeness")
@dataclass(frozen=True)
class TCloseness(SensitiveModel):
    """The sensitive values of every class are distributed much as in the whole table: their distance is at most t.

    The distance is the least work that turns one distribution into the other (earth mover's distance), by a distance
    of values from 0 to 1. The whole table as one class has distance 0, so that any t can be kept. Two classes that
    keep it keep it as one.

    Notes
    -----
    A missing value is a value of its own. For "ordered" it lies one step beyond the largest value; for "hierarchical"
    it is as far from all others as the root is high.

    Examples
    --------
    The salaries of the paper, in thousands: 3, 4, 5 are 0.375 away from the table, and 6, 8, 11 only 0.1667.

    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=3, quasi_identifiers=["age"], sensitive=["salary"])
    >>> salaries = ["3", "4", "5", "6", "8", "11", "7", "9", "10"]
    >>> table, values = reference_of(policy, {"salary": salaries}, [1] * 9)
    >>> classes = Histogram.of(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), values)
    >>> [TCloseness("salary", t, "ordered").keeps(classes, table).tolist()[:2] for t in (0.375, 0.374, 0.16)]
    [[True, True], [False, True], [False, False]]
    """

    column: str
    """A sensitive column. The table is that of the published records."""
    t: Share
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    """How far two values are apart: any two alike, 1; by rank among the m values of the table, 1/(m - 1) for each step;
    or by the height of their common ancestor in the hierarchy of the column over that of its root. "ordered" takes
    numbers and dates, or the order of a hierarchy's leaves."""

    summary = "the distribution of sensitive values in every class is within t of that of the table"
    paper = "Li, Li and Venkatasubramanian, ICDE 2007"
    strictness = ("t", "less")
    compares = True

    @override
    def refuses_policy(self, policy: Policy) -> str | None:
        needs_tree = self.distance == "hierarchical" or (
            self.distance == "ordered" and policy.columns[self.column].type == "string"
        )
        return self._lacks if needs_tree and taxonomy_of(policy, self.column) is None else None

    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        """Which classes keep the promise; none if the values are not what the distance needs."""
        if not self._fits(table.column):
            return np.zeros(classes.classes, bool)
        work, unit = _WORK[self.distance](classes, table)
        return at_most(work, classes.sizes.astype(object) * (unit * table.total), exact(self.t))

    def rules(self, table: Reference) -> tuple[Rule, ...]:
        """The promise in the form that a search can follow; none for numbers whose tree has another order."""
        parts = {"equal": equal_parts, "ordered": ordered_parts, "hierarchical": tree_parts}[self.distance](table)
        if parts is None or not len(parts.first):
            return ()
        return (distance(parts.first, parts.after, parts.weight, exact(self.t), parts.unit, table.counts),)

    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        """Why no release of a table with these values can keep the promise; or None.

        The whole table as one class keeps it. But the values may not be what the distance needs.
        """
        leaves = table.column.leaves
        if self._fits(table.column):
            return None
        if leaves is None:
            return self._lacks
        strange = int((leaves < 0).sum())
        values = "1 value" if strange == 1 else f"{strange:,} values"
        are = "is" if strange == 1 else "are"
        return f"{values} of column {self.column!r} {are} not in its hierarchy; add what is missing there"

    @property
    def _lacks(self) -> str:
        """What the distance needs and the column has not."""
        need = {
            "ordered": "numbers, dates, or a hierarchy whose leaves are in order",
            "hierarchical": "a hierarchy, from a file or as a tree",
        }[self.distance]
        return f'distance = "{self.distance}" needs {need}; column {self.column!r} has none: take another distance'

    def _fits(self, column: SensitiveColumn) -> bool:
        """Whether the values are what the distance needs."""
        if self.distance == "equal":
            return True
        if self.distance == "ordered" and column.is_numeric:
            return True
        return column.leaves is not None and bool((column.leaves >= 0).all())
