"""How all reports write shares."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share as people write it; what is not nothing and not all never looks like it.

    Examples
    --------
    >>> [percent(share) for share in (0.0, 0.00004, 0.0065, 0.081, 0.1, 0.99999, 1.0)]
    ['0 %', 'under 0.01 %', '0.65 %', '8.1 %', '10 %', 'over 99.99 %', '100 %']
    """
    if 0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1:
        return "over 99.99 %"
    digits = 2 if 0 < share < 0.01 or 0.99 < share < 1 else 1
    return f"{100 * share:.{digits}f}".rstrip("0").rstrip(".") + " %"
