"""Numbers and names as sentences write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun, in the plural where it must be."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Iterable[str]) -> str:
    """Write the names of columns, with the word before them; only those that the policy has may be written."""
    return _columns([repr(name) for name in names])


def are(number: int) -> str:
    """The verb to a number of things."""
    return "is" if number == 1 else "are"


def placed(places: Iterable[int]) -> str:
    """Write the positions of columns, with the word before them."""
    return _columns([str(place) for place in places])


def _columns(which: Sequence[str]) -> str:
    return f"column {which[0]}" if len(which) == 1 else f"columns {', '.join(which[:-1])} and {which[-1]}"
