"""Which published row can be about which record: matchings, found by augmenting paths. Nothing of kohort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any


def assignment(fits: Sequence[Sequence[bool]]) -> list[int] | None:
    """A record of its own for every row; None if there is none."""
    edges = [[record for record, fit in enumerate(row) if fit] for row in fits]
    owner: dict[int, int] = {}
    held: dict[int, int] = {}
    for row in range(len(fits)):
        if not _augment(row, edges, owner, held):
            return None
    return [held[row] for row in range(len(fits))]


def _augment(start: int, edges: Sequence[Sequence[int]], owner: dict[int, int], held: dict[int, int]) -> bool:
    """Give a row a record, others moving on, along a shortest path."""
    before: dict[int, int] = {}
    queue = [start]
    for row in queue:
        for record in edges[row]:
            if record in before:
                continue
            before[record] = row
            if record in owner:
                queue.append(owner[record])
                continue
            while True:
                taker = before[record]
                left = held.get(taker)
                owner[record], held[taker] = taker, record
                if left is None:
                    return True
                record = left
    return False


_NOWHERE = object()


def column_assignment(texts: Sequence[str], values: Sequence[Any], covers: Callable[[str, Any], bool]) -> bool:
    """Whether the cells of a column can be true of records of their own: a flow between distinct texts and values."""
    rooms = Counter(values)
    flow: Counter[tuple[str, Any]] = Counter()
    edges = {text: [value for value in rooms if covers(text, value)] for text in set(texts)}
    return all(_push(text, edges, rooms, flow) for text in texts)


def _push(start: str, edges: dict[str, list[Any]], rooms: Counter[Any], flow: Counter[tuple[str, Any]]) -> bool:
    used: Counter[Any] = Counter()
    for (_, value), amount in flow.items():
        used[value] += amount
    before: dict[Any, tuple[str, Any]] = {}
    queue: list[tuple[str, Any]] = [(start, _NOWHERE)]
    seen = {start}
    for text, via in queue:
        for value in edges[text]:
            if value in before:
                continue
            before[value] = (text, via)
            if used[value] < rooms[value]:
                while True:
                    text, came = before[value]
                    flow[text, value] += 1
                    if came is _NOWHERE:
                        return True
                    flow[text, came] -= 1
                    value = came
            for (other, there), amount in list(flow.items()):
                if there == value and amount > 0 and other not in seen:
                    seen.add(other)
                    queue.append((other, value))
    return False
