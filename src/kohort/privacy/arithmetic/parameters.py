"""Parameters of models: taken as the decimals that are written, and given as decimals again."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction


def exact(number: float) -> Fraction:
    """The decimal that is written: 0.1 is one tenth.

    Examples
    --------
    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(str(number))


def rounded_down(number: Fraction, digits: int = 3) -> Fraction:
    """The largest number with that many digits, leading zeros aside, that is not above a positive number.

    Examples
    --------
    >>> rounded_down(Fraction(2, 3))
    Fraction(333, 500)
    """
    unit = _unit(number, digits)
    return number // unit * unit


def rounded_up(number: Fraction, digits: int = 3, *, strict: bool = False) -> Fraction:
    """The smallest number with that many digits that is not below a positive number, or is above it."""
    unit = _unit(number, digits)
    return (number // unit + 1) * unit if strict else -(-number // unit) * unit


def decimal(number: Fraction) -> str:
    """A number of few digits as a decimal.

    Examples
    --------
    >>> decimal(Fraction(333, 500)), decimal(Fraction(1200))
    ('0.666', '1200')
    """
    return f"{(Decimal(number.numerator) / number.denominator).normalize():f}"


def _unit(number: Fraction, digits: int) -> Fraction:
    """The unit of the last of that many digits."""
    assert number > 0
    leading = 0
    while number >= Fraction(10) ** (leading + 1):
        leading += 1
    while number < Fraction(10) ** leading:
        leading -= 1
    return Fraction(10) ** (leading + 1 - digits)
