"""Entropy l-diversity (Machanavajjhala et al. 2006, with Shannon's entropy)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy.parameters import Limits
from kohort.privacy.arithmetic.parameters import decimal, exact, rounded_down
from kohort.privacy.arithmetic.powers import is_at_least_one
from kohort.privacy.arithmetic.surplus import with_allowance
from kohort.privacy.base import MODELS, Histogram, SensitiveModel
from kohort.privacy.reference import Reference
from kohort.privacy.rules import Rule, entropy

_CLEAR, _ROUNDING = 1e-9, 1e-14
"""A difference of entropies that no rounding can make, and how much more it must be for every value of a class."""


@MODELS.register("entropy-l-diversity")
@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """The exponential of the entropy of the sensitive values is at least l in every class.

    With shares p the entropy is the sum of -p ln p. l equally frequent values reach l exactly; the more they differ in
    frequency, the more values are needed. Two classes that keep it keep it as one.

    Notes
    -----
    At the limit itself whole numbers decide: of n records, c with each value, the product of all c^c, times l^n, is at
    most n^n.

    Examples
    --------
    >>> from kohort.policy import Policy
    >>> from kohort.privacy import Histogram, reference_of
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["disease"])
    >>> table, _ = reference_of(policy, {"disease": ["flu", "cold", "acne"]}, [2, 2, 2])
    >>> EntropyLDiversity("disease", l=3).keeps(Histogram.of_all(table), table).tolist()
    [True]
    >>> EntropyLDiversity("disease", l=3.001).refuses_values(table)
    "l = 3.001 is impossible for column 'disease': the entropy of all its values is too low; at most l = 3 can be kept"
    """

    column: str
    """A sensitive column. A missing value counts as a value of its own."""
    l: Annotated[float, Limits(above=1)]  # noqa: E741 - the name that everybody knows it by
    """Above 1; need not be whole."""

    summary = "exp(entropy) of the sensitive values is at least l in every class"
    paper = "Machanavajjhala et al., ICDE 2006"
    strictness = ("l", "more")

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        if not len(classes.group):
            return np.ones(0, bool)
        least = exact(self.l)
        margin = _entropies(classes) - (math.log(least.numerator) - math.log(least.denominator))
        kept = margin >= 0
        unclear = np.abs(margin) <= _CLEAR + _ROUNDING * classes.distinct
        if unclear.any():
            mine = unclear[classes.group]
            by_class: dict[int, list[int]] = {}
            for group, count in zip(classes.group[mine].tolist(), classes.count[mine].tolist(), strict=True):
                by_class.setdefault(group, []).append(count)
            for group, counts in by_class.items():
                kept[group] = _reaches(tuple(sorted(counts)), least)
        return kept

    @override
    def rules(self, table: Reference) -> tuple[Rule, ...]:
        return (entropy(float(self.l)),)

    @override
    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        everything = Histogram.of_all(table)
        if self.keeps(everything, table).all():
            return None
        if allowance:
            return self._refuses_most(_most_even(table.counts, table.total - allowance), allowance)
        counts = tuple(sorted(table.counts.tolist()))
        # The limit by rounding may be a little too high, and the last digit is the reader's.
        most = rounded_down(Fraction(float(np.exp(_entropies(everything)[0]))) + Fraction(1, 10**9))
        while not _reaches(counts, most):
            most = rounded_down(most * Fraction(9999, 10_000))
        return self._impossible(most)

    def _refuses_most(self, entropy: float, allowance: int) -> str | None:
        """Why an entropy that no release can exceed is too low; or None."""
        reach = Fraction(math.exp(entropy)) + Fraction(1, 10**6)
        return None if exact(self.l) <= reach else self._impossible(rounded_down(reach), allowance)

    def _impossible(self, most: Fraction, allowance: int = 0) -> str:
        can = f"at most l = {decimal(most)} can be kept" if most > 1 else "no l above 1 can be kept"
        return (
            f"l = {self.l} is impossible for column {self.column!r}: the entropy of all its values is too low"
            f"{with_allowance(allowance)}; {can}"
        )


def _entropies(classes: Histogram) -> NDArray[np.float64]:
    """Entropy of each class, to about 12 digits."""
    sizes = classes.sizes
    inside = np.bincount(classes.group, classes.count * np.log(classes.count))
    entropies: NDArray[np.float64] = np.log(sizes) - inside / sizes
    return entropies


def _most_even(counts: NDArray[np.int64], records: int) -> float:
    """The entropy that no such number of records exceeds: no value has more than a certain number, not always whole."""
    low, high = 0.0, float(counts.max())
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if np.minimum(counts, middle).sum() > records else (middle, high)
    shares = np.minimum(counts, high) / np.minimum(counts, high).sum()
    return float(-(shares * np.log(shares)).sum())


@lru_cache(maxsize=1 << 12)
def _reaches(counts: tuple[int, ...], least: Fraction) -> bool:
    """Whether the exponential of the entropy of these counts is at least a number, exactly."""
    size = sum(counts)
    powers: Counter[int] = Counter()
    for base, exponent in [(size, size), (least.denominator, size), (least.numerator, -size)]:
        powers[base] += exponent
    for count in counts:
        powers[count] -= count
    return is_at_least_one(powers)
