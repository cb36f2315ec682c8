"""Bulk forms: ``columns."q*"`` stands for every column that it fits and that no entry of its own names.

A star stands for any characters, also none; everything else is itself, upper and lower case apart. Which columns a
pattern stands for is known with the table only: `kohort.policy.Policy.for_columns` puts them in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from kohort.errors import PolicyError

STAR = "*"


def is_pattern(name: str) -> bool:
    """Whether an entry may stand for several columns: it has a star."""
    return STAR in name


def is_everything(name: str) -> bool:
    """Whether a pattern fits every column."""
    return not name.strip(STAR)


def expanded(entries: Iterable[str], present: Sequence[str]) -> Mapping[str, str]:
    """The entry that each column of a table gets: its own, or else the most specific pattern that fits it.

    The most specific one has most characters beside its stars. An entry that is the name of a column is that column.

    Parameters
    ----------
    entries : iterable of str
        Names and patterns.
    present : sequence of str
        Columns of the table.

    Returns
    -------
    mapping
        Column to entry, without columns that have none.

    Raises
    ------
    PolicyError
        When two patterns that fit a column are equally specific; nobody then said which one is meant.

    Examples
    --------
    >>> expanded(["q*", "q1*", "q12"], ["q2", "q11", "q12", "age"])
    {'q2': 'q*', 'q11': 'q1*', 'q12': 'q12'}
    """
    own, names = set(entries), set(present)
    patterns = sorted(
        (entry for entry in own - names if is_pattern(entry)), key=lambda entry: (-_letters(entry), entry)
    )
    found: dict[str, str] = {}
    faults = []
    for name in present:
        fitting = [name] if name in own else [entry for entry in patterns if _expression(entry).fullmatch(name)]
        if len(fitting) > 1 and name not in own and _letters(fitting[0]) == _letters(fitting[1]):
            both = f"{fitting[0]!r} and {fitting[1]!r}"
            faults.append(f"column {name!r}: {both} fit it equally well; give it an entry of its own.")
        if fitting:
            found[name] = fitting[0]
    PolicyError.refuse(faults)
    return found


def _letters(pattern: str) -> int:
    """Characters that are themselves."""
    return len(pattern) - pattern.count(STAR)


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, re.split(r"\*+", pattern))), re.DOTALL)
