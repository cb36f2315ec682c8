"""Whether a request can be met at all, on tables small enough to try every partition. Nothing of kohort."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from math import floor
from pathlib import Path
from typing import Any

from .judge_columns import Column, column_of
from .judge_files import Table
from .judge_models import POPULATIONS, SIZES, broken_classes, broken_sizes, sensitive_value

MOST_ROWS = 8


def is_feasible(policy: Mapping[str, Any], folder: Path, original: Table) -> bool | None:
    """Whether some release in classes keeps the policy; None if that is too much to find out."""
    privacy = policy["privacy"]
    models = privacy.get("models", [])
    if len(original.rows) > MOST_ROWS or privacy.get("anonymity") or privacy.get("person"):
        return None
    if any(model["model"] in POPULATIONS for model in models):
        return None
    specs = {n: {"role": s} if isinstance(s, str) else s for n, s in policy["columns"].items()}
    missing = frozenset(policy.get("input", {}).get("missing", [""]))
    quasi = [column_of(n, specs[n], original, missing, folder) for n in original.names if specs[n]["role"] == "quasi"]
    starred = policy.get("output", {}).get("suppressed") == "starred"
    if starred and any(_is_beyond(column) for column in quasi):
        return None
    values = {
        name: [sensitive_value(cell, missing) for cell in original.column(name)]
        for name in original.names
        if specs[name]["role"] == "sensitive"
    }
    records = [tuple(c.value(original.column(c.name)[row]) for c in quasi) for row in range(len(original.rows))]
    usable = [row for row in range(len(records)) if None not in records[row] or privacy.get("missing") != "suppress"]
    allowed = floor(Fraction(str(privacy.get("suppression_limit", 0))) * len(records))
    spare = allowed - (len(records) - len(usable))
    for gone in range(spare + 1):
        for withheld in combinations(usable, gone):
            left = [row for row in usable if row not in withheld]
            if left and any(
                _keeps(classes, models, values, policy, folder)
                for merged in _releases(left, privacy["k"], quasi, records)
                if (classes := _shown(merged, spare - gone) if starred else merged)
            ):
                return True
    return False


def _releases(
    rows: list[int], k: int, quasi: list[Column], records: list[tuple[Any, ...]]
) -> Iterator[dict[Any, list[int]]]:
    for partition in partitions(rows, k):
        merged: dict[Any, list[int]] = {}
        for members in partition:
            merged.setdefault(_box(members, quasi, records), []).extend(members)
        yield merged


def _is_beyond(column: Column) -> bool:
    """Whether it is not known here when a class is generalized to the top."""
    known = column.spec.get("hierarchy") or {"tree"}
    return bool(column.spec.keys() & {"top", "bottom"}) or not (
        isinstance(known, str) or set(known) & {"tree", "file", "flat"}
    )


def _shown(classes: dict[Any, list[int]], spare: int) -> dict[Any, list[int]]:
    """Classes that are not generalized to the top; none if more than may be are, for those count as suppressed."""
    kept = {box: members for box, members in classes.items() if any(one != "*" for one in box)}
    gone = sum(map(len, classes.values())) - sum(map(len, kept.values()))
    return kept if gone <= spare else {}


def _box(members: list[int], quasi: list[Column], records: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """What a class publishes: classes with the same are one."""
    box: list[Any] = []
    for at, column in enumerate(quasi):
        here = {records[row][at] for row in members}
        if len(here) == 1 or column.kind == "text":
            box.append(_label(column, here))
        elif None in here:
            box.append("*")
        else:
            box.append((min(here), max(here)))
    return tuple(box)


def _label(column: Column, here: set[Any]) -> Any:
    if len(here) == 1:
        return next(iter(here))
    if column.paths is None or None in here:
        return "*" if "prefix" not in (column.spec.get("hierarchy") or {}) else ("*", *sorted(map(str, here)))
    first, *others = (column.paths[value] for value in here)
    return next(node for node in first if all(node in path for path in others))


def partitions(rows: list[int], k: int) -> Iterator[list[list[int]]]:
    """All ways to part rows into classes of at least k."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for size in range(k, len(rows) + 1):
        if 0 < len(rows) - size < k:
            continue
        for others in combinations(rest, size - 1):
            left = [row for row in rest if row not in others]
            for more in partitions(left, k):
                yield [[first, *others], *more]


def _keeps(
    classes: dict[Any, list[int]],
    models: list[dict[str, Any]],
    values: dict[str, list[Any]],
    policy: Mapping[str, Any],
    folder: Path,
) -> bool:
    for model in models:
        if model["model"] in SIZES:
            if broken_sizes(model, classes):
                return False
        elif broken_classes(model, classes, values, policy, folder):
            return False
    return True
