"""(alpha, k)-anonymity (Wong et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy import Policy
from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.counting import entries_at_most, kept_by_all
from kohort.privacy.arithmetic.parameters import decimal, exact, rounded_up
from kohort.privacy.arithmetic.surplus import capped, with_allowance
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference, taxonomy_of
from kohort.privacy.rules import Rule, shares

_ALL = Fraction(1)


@MODELS.register("alpha-k")
@dataclass(frozen=True)
class AlphaK(SensitiveModel):
    """No sensitive value, or none of those that are listed, has more than a share of alpha of any class.

    The k of the name is that of the policy. Two classes that keep it keep it as one.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["disease"])
    >>> table, _ = reference_of(policy, {"disease": ["flu", "HIV"]}, [6, 2])
    >>> AlphaK("disease", alpha=0.5).refuses_values(table)
    "alpha = 0.5 is impossible for column 'disease': one value has 6 of 8 records; alpha = 0.75 can be kept"
    >>> AlphaK("disease", alpha=0.5, values=["HIV"]).keeps(Histogram.of_all(table), table).tolist()
    [True]
    """

    column: str
    """A sensitive column. A missing value counts as a value of its own."""
    alpha: Annotated[float, Limits(above=0, below=1)]
    values: tuple[str | float, ...] | None = None
    """The values that it is about, as texts or numbers; the empty text is the missing value. All values if not
    given."""

    summary = "no sensitive value, or none of those listed, has more than a share of alpha of a class"
    paper = "Wong et al., KDD 2006"
    strictness = ("alpha", "less")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values is None:
            return
        fine = isinstance(self.values, list | tuple) and self.values
        if not fine or any(isinstance(one, bool) or not isinstance(one, str | int | float) for one in self.values):
            raise ValueError("'values' must be a list of at least one text or number")
        object.__setattr__(self, "values", tuple(self.values))

    @override
    def refuses_policy(self, policy: Policy) -> str | None:
        listed = [text for text in self._texts if text]
        tree = taxonomy_of(policy, self.column) if listed else None
        strange = sum(leaf < 0 for leaf in tree.codes(listed)) if tree else 0
        if not strange:
            return None
        are = "one of the 'values' is" if strange == 1 else f"{strange} of the 'values' are"
        return f"{are} not in the hierarchy of column {self.column!r}; list its leaves as they are written there"

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return kept_by_all(classes, entries_at_most(classes, self._limits(table)))

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (shares(self._limits(table), None, strict=False, size=table.size),)

    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        """Why no release of a table with these values can keep the promise; or None.

        A list of which the table has no value at all is taken for a mistake and refused.
        """
        limited = [value for value, limit in enumerate(self._limits(table)) if limit < _ALL]
        if not limited:
            return f"none of the values that alpha-k lists occurs in column {self.column!r}; list values that do"
        counts = table.counts[limited]
        others = table.total - int(counts.sum())
        # The fewer records a value may have, the smaller is the largest share; but somebody must be left.
        most = max(0 if others else 1, capped(counts, allowance))
        total = int(np.minimum(counts, most).sum()) + others
        if Fraction(most, total) <= exact(self.alpha):
            return None
        least = rounded_up(Fraction(most, total))
        can = f"alpha = {decimal(least)} can be kept" if least < 1 else "no alpha below 1 can be kept"
        return (
            f"alpha = {self.alpha} is impossible for column {self.column!r}: "
            f"one value has {int(counts.max()):,} of {table.total:,} records{with_allowance(allowance)}; {can}"
        )

    @property
    def _texts(self) -> list[str]:
        return [str(value) for value in self.values or ()]

    def _limits(self, table: Reference) -> list[Fraction]:
        """The largest share of each value of the table."""
        alpha = exact(self.alpha)
        if self.values is None:
            return [alpha] * table.size
        listed = {table.column.find(text) for text in self._texts}
        return [alpha if value in listed else _ALL for value in range(table.size)]
