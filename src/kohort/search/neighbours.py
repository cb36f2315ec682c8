"""Which rows are near each other: approximate, and linear in their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import DistinctRows
from kohort.common.stopping import Workers
from kohort.search.order import halved, in_order

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs
    from kohort.kernels.search.search import Nearness
    from kohort.kernels.search.spans import Spans

NEIGHBOURS = 24
"""Near rows that are kept for each row."""
REACH = 6
"""How far to look on each side in an order."""
ORDERS = 24
"""Most orders of the columns that are looked at."""
TREES = 4
"""Orders by halves that are looked at."""
JITTER = 0.6
"""How much they differ."""
ROUNDS = 5
"""Most rounds among the neighbours of neighbours."""
QUICK_ORDERS, QUICK_TREES, QUICK_ROUNDS = 1, 2, 1
"""The same for a short search, which does not come to use more."""
SETTLED = 0.1
"""No more rounds if one changed less than this share of the neighbours."""
BLOCK = 1 << 15
"""Rows per call of a kernel: often enough for Ctrl-C."""


def nearness(
    rows: DistinctRows,
    places: NDArray[np.int32],
    costs: Costs,
    spans: Spans,
    columns: list[int],
    rng: np.random.Generator,
    threads: int,
    *,
    quick: bool = False,
) -> Nearness:
    """Near rows of each distinct row.

    Parameters
    ----------
    rows : DistinctRows
        The rows and their records.
    places : int32[m, d]
        The rows in the form that `spans` is about.
    columns : list of int
        A good order of the columns. Each column in turn is put last in it.
    quick : bool
        Look less closely.
    """
    from kohort.kernels.search.neighbours import NONE, find_fresh, neighbours_in_order, neighbours_of_neighbours
    from kohort.kernels.search.search import Nearness

    m = len(rows.codes)
    count = min(NEIGHBOURS, m)
    near = np.full((m, count), -1, np.int32)
    distance = np.full((m, count), NONE, np.int32)
    # A row that has copies is its own neighbour: they may sit in other clusters.
    copies = rows.counts > 1
    near[copies, 0] = np.flatnonzero(copies)
    distance[copies, 0] = 0
    with Workers(threads) as pool:
        for order in _orders(rows.codes, costs, columns, rng, quick=quick):
            _in_blocks(pool, m, partial(neighbours_in_order, places, spans, order, REACH), near, distance)
        fresh = np.ones((m, (count + 1) // 2), bool)
        before = near
        for number in range(QUICK_ROUNDS if quick else ROUNDS):
            earlier, before = before, near.copy()
            if number:
                _in_blocks(pool, m, partial(find_fresh, earlier, before), fresh)
            _in_blocks(pool, m, partial(neighbours_of_neighbours, places, spans, before, fresh), near, distance)
            if np.count_nonzero(near != before) < SETTLED * near.size:
                break
    return Nearness(rows.by_record(rows.row), near, rows.first, rows.counts, rows.order)


def _orders(
    codes: NDArray[np.int32], costs: Costs, columns: list[int], rng: np.random.Generator, *, quick: bool
) -> Iterator[NDArray[np.int64]]:
    """Orders with near rows side by side: sorted, each column last in turn; and halved, each time otherwise."""
    for last in columns[-(QUICK_ORDERS if quick else ORDERS) :]:
        yield in_order(codes, [*(column for column in columns if column != last), last])
    for _ in range(QUICK_TREES if quick else TREES):
        yield halved(codes, costs, REACH, rng, jitter=JITTER)


def _in_blocks(pool: Workers, rows: int, work: Callable[..., None], *results: NDArray[Any]) -> None:
    """Do the work on blocks of rows, which do not touch each other."""
    pool.each(lambda start: work(start, min(rows, start + BLOCK), *results), range(0, rows, BLOCK))
