"""Products of powers of whole numbers, compared with 1 without rounding; and logarithms of many digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

_DIGITS = 60
_CLEAR = Decimal("1e-40")
_AT_ONCE = 100_000
"""Bits of a product that is simply computed."""


def is_at_least_one(powers: Mapping[int, int]) -> bool:
    """Whether the product of all base ** exponent is at least 1.

    Parameters
    ----------
    powers : mapping of int to int
        Positive bases, and exponents of either sign.

    Examples
    --------
    >>> is_at_least_one({9: 1, 3: -2}), is_at_least_one({9: 1, 3: -2, 10**6: 5 * 10**6, 10**6 + 1: -5 * 10**6})
    (True, False)
    """
    common = math.gcd(*powers.values()) or 1
    reduced = {base: exponent // common for base, exponent in powers.items()}
    if sum(base.bit_length() * abs(exponent) for base, exponent in reduced.items()) > _AT_ONCE:
        with localcontext(prec=_DIGITS):
            total = sum((exponent * Decimal(base).ln() for base, exponent in reduced.items()), Decimal(0))
        if abs(total) > _CLEAR * max(map(abs, reduced.values())):
            return total > 0
    above: int = prod(base**exponent for base, exponent in reduced.items() if exponent > 0)
    below: int = prod(base**-exponent for base, exponent in reduced.items() if exponent < 0)
    return above >= below


def exponential(exponent: Fraction, base: int | None = None) -> Fraction:
    """The base, e unless given, to some power: to 50 digits at least, and exactly where it is a fraction by itself."""
    if base is not None and exponent.denominator == 1:
        return Fraction(base) ** exponent.numerator
    with localcontext(prec=_DIGITS):
        power = Decimal(exponent.numerator) / exponent.denominator
        return Fraction((power if base is None else power * Decimal(base).ln()).exp())


def logarithm(number: Fraction) -> Fraction:
    """The natural logarithm, to 50 digits after the point."""
    with localcontext(prec=_DIGITS):
        return Fraction(Decimal(number.numerator).ln() - Decimal(number.denominator).ln())
