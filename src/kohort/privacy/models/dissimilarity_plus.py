"""(epsilon+, delta)^k-dissimilarity (Zhang et al., PAC, paper 003) of several columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits, require_number
from kohort.privacy.arithmetic.neighbours import MOST_VECTORS, refuses_crowd, spares_enough
from kohort.privacy.arithmetic.parameters import exact
from kohort.privacy.arithmetic.vectors import Nearness, strange_values
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule, dissimilar


@MODELS.register("dissimilarity-plus")
@dataclass(frozen=True)
class DissimilarityPlus(SensitiveModel):
    """For every record, at least a share of delta of all others in its class have sensitive values that differ enough.

    Of a class of n records, at least delta (n - 1) are farther away than epsilon. The distance of two records is the
    weighted mean of their distances in all columns, each from 0 to 1: for numbers and dates |a - b| / R, with the
    range R of the table; for values with a hierarchy L / (2 H), with the edges L between them and the height H of the
    tree; for others 0 if they are equal, else 1. The k of the name is that of the policy. Two classes that keep it may
    break it as one.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(
    ...     k=2, quasi_identifiers=["age"], sensitive=["pay", "disease"],
    ...     hierarchies={"disease": {"tree": {"Lung": ["Asthma", "Flu"], "Skin": ["Acne", "Eczema"]}}},
    ... )
    >>> texts = {"pay": ["10", "20", "10", "11"], "disease": ["Flu", "Acne", "Acne", "Eczema"]}
    >>> table, values = reference_of(policy, texts, [1, 1, 1, 1])
    >>> classes = Histogram.of(np.array([0, 0, 1, 1]), values)  # distances (1 + 1) / 2 and (0.1 + 0.5) / 2
    >>> [DissimilarityPlus(["pay", "disease"], e, delta=1).keeps(classes, table).tolist() for e in (0.29, 0.3)]
    [[True, True], [True, False]]
    """

    columns: tuple[str, ...] = field()
    """Sensitive columns. A missing value has distance 0 from a missing one and 1 from any other."""
    epsilon: Annotated[float, Limits(least=0, below=1)]
    """From 0, below 1. A record exactly so far away is near."""
    delta: Annotated[float, Limits(above=0, most=1)]
    weights: tuple[float, ...] | None = None
    """Weight of each column, relative to their sum; equal if not given."""

    summary = (
        "for every record, a share of delta of the others in its class differ by more than epsilon over all columns"
    )
    paper = "Zhang et al., PAC (003), (epsilon+, delta)^k-dissimilarity"
    monotone = False
    compares = True

    def __post_init__(self) -> None:
        if not isinstance(self.columns, list | tuple) or not self.columns:
            raise ValueError("'columns' must be a list of at least one column")
        if len(set(map(str, self.columns))) < len(self.columns):
            raise ValueError("'columns' must not name a column twice")
        object.__setattr__(self, "columns", tuple(self.columns))
        super().__post_init__()
        if self.weights is None:
            return
        if not isinstance(self.weights, list | tuple) or len(self.weights) != len(self.columns):
            raise ValueError(f"'weights' must be a list of {len(self.columns)}, one number for each column")
        for weight in self.weights:
            require_number("weights", weight, Limits(above=0, note=", for each column"))
        object.__setattr__(self, "weights", tuple(self.weights))

    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        """Which classes keep the promise; none if a value is not in the hierarchy of its column."""
        if any(map(strange_values, table.columns)):
            return np.zeros(classes.classes, bool)
        return spares_enough(classes, self._nearness(table, 1).counted(classes), exact(self.delta))

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (dissimilar(self._nearness(table, 1).for_search(), exact(self.delta)),)

    @override
    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        for column in table.columns:
            strange = strange_values(column)
            if strange:
                are = "1 value is" if strange == 1 else f"{strange:,} values are"
                return f"column {column.name!r}: {are} not in its hierarchy; add what is missing there"
        most = int(table.counts.max(initial=0))
        # Distances are shares of ranges, and those are smaller when the records at their ends are suppressed.
        if table.size <= MOST_VECTORS and not allowance:
            # Records within half the distance of one another's middle are near one another.
            most = int((self._nearness(table, 2).matrix() @ table.counts).max(initial=0))
        return refuses_crowd(self.columns, self.epsilon, self.delta, most, table.total, allowance)

    def _nearness(self, table: Reference, parts: int) -> Nearness:
        """Who is within epsilon, or a part of it, of whom."""
        given = self.weights or (1,) * len(self.columns)
        weights = [exact(weight) for weight in given]
        return Nearness(table, [weight / sum(weights, Fraction(0)) for weight in weights], exact(self.epsilon) / parts)
