"""Parameters of what a policy names: one check and one wording for each kind of value."""

from __future__ import annotations

import math


def require_whole(name: str, value: object, least: int = 1) -> None:
    """Refuse a parameter that is no whole number, or too small a one.

    Examples
    --------
    >>> require_whole("rounds", 0)
    Traceback (most recent call last):
    ...
    ValueError: 'rounds' must be an integer of at least 1; got 0
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise _wrong(name, f"an integer of at least {least}", value)


def require_number(
    name: str,
    value: object,
    *,
    least: int | None = None,
    above: int | None = None,
    most: int | None = None,
    below: int | None = None,
    note: str = "",
) -> None:
    """Refuse a parameter that is no finite number, or none within its limits.

    Examples
    --------
    >>> require_number("tau", 2.0, least=0, most=1)
    Traceback (most recent call last):
    ...
    ValueError: 'tau' must be a number from 0 to 1; got 2.0
    """
    fine = isinstance(value, int | float) and not isinstance(value, bool)
    fine = fine and (isinstance(value, int) or math.isfinite(value))  # type: ignore[arg-type]
    if (
        not fine
        or (least is not None and value < least)  # type: ignore[operator]
        or (above is not None and value <= above)  # type: ignore[operator]
        or (most is not None and value > most)  # type: ignore[operator]
        or (below is not None and value >= below)  # type: ignore[operator]
    ):
        if least is not None and most is not None:
            words = f"from {least} to {most}"
        else:
            limits = {"of at least": least, "above": above, "at most": most, "below": below}
            words = " and ".join(f"{word} {limit}" for word, limit in limits.items() if limit is not None)
        raise _wrong(name, f"a number {words}{note}", value)


def require_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of some words.

    Examples
    --------
    >>> require_one_of("mode", "lax", ("strict", "relaxed"))
    Traceback (most recent call last):
    ...
    ValueError: 'mode' must be 'strict' or 'relaxed'; got 'lax'
    """
    if value not in choices:
        *others, last = map(repr, choices)
        raise _wrong(name, f"{', '.join(others)} or {last}", value)


def require_flag(name: str, value: object) -> None:
    """Refuse a parameter that is neither true nor false."""
    if not isinstance(value, bool):
        raise _wrong(name, "true or false", value)


def _wrong(name: str, wanted: str, value: object) -> ValueError:
    return ValueError(f"'{name}' must be {wanted}; got {value!r}")
