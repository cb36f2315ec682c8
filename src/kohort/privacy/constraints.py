"""Files of sets of items, one in each line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from kohort.common.regular import regular
from kohort.errors import PolicyError

Lists = tuple[tuple[str, ...], ...]


def read_constraints(path: Path, separator: str | None, what: str) -> Lists:
    """Read a file with one set of items in each line, written as in the table; empty lines say nothing."""
    try:
        text = regular(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise PolicyError(f"{what} {path.name}: cannot be read as UTF-8 text; check the path.") from None
    found, faulty = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        items = _json(line) if separator is None else [item.strip() for item in line.split(separator)]
        if not items or not all(items):
            faulty.append(number)
            continue
        found.append(tuple(items))
    if faulty:
        raise PolicyError(
            f"{what} {path.name}: line {faulty[0]} is no set of items{_more(faulty)}; write them as in the table."
        )
    if not found:
        raise PolicyError(f"{what} {path.name}: has no set of items; list one in each line.")
    return tuple(found)


def checked(lists: Lists, what: str, most: int | None) -> Lists:
    """Refuse sets with an item twice, with too many of them; and, of groups that may be merged, such that overlap."""
    for number, one in enumerate(lists, 1):
        if len(set(one)) < len(one):
            raise PolicyError(f"{what}: set {number} has an item twice; list each once.")
        if most is not None and len(one) > most:
            raise PolicyError(
                f"{what}: set {number} has {len(one)} items, and all its parts are protected; list {most} at most."
            )
    if most is None and len({item for one in lists for item in one}) < sum(map(len, lists)):
        raise PolicyError(f"{what}: an item is in two groups; an item may be merged in one group only.")
    return lists


def parts_of(lists: Lists) -> list[tuple[str, ...]]:
    """All non-empty subsets of all sets, each once; the sets as they are listed, then ever smaller parts of them.

    If a set is kept by k records, so are its parts: these matter where it is kept by none.
    """
    found: dict[tuple[str, ...], None] = {}
    for shorter in range(max(map(len, lists), default=0)):
        for one in lists:
            if shorter < len(one):
                found |= dict.fromkeys(combinations(sorted(one), len(one) - shorter))
    return list(found)


def _json(line: str) -> Sequence[str]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) and all(isinstance(item, str) for item in found) else []


def _more(faulty: Sequence[int]) -> str:
    return f", as are {len(faulty) - 1} more" if len(faulty) > 1 else ""
