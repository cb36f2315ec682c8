"""A good order of the records, and the best cut of it: fast, and the start of everything better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

SAMPLE = 4096
"""Records that orders of the columns are tried on."""
TRIALS = 400
"""Most orders that are tried."""
STEP = 20_000_000
"""Boxes per call of the kernel: often enough for Ctrl-C."""


def in_order(array: NDArray[np.int32], columns: list[int]) -> NDArray[np.int64]:
    """The rows, sorted by some columns, the first one first."""
    return np.lexsort(array[:, columns[::-1]].T)


def halved(
    array: NDArray[np.int32], costs: Costs, leaf: int, rng: np.random.Generator, *, jitter: float = 0.0
) -> NDArray[np.int64]:
    """The rows, near ones beside each other: runs are cut along their widest side until they have `leaf` rows.

    Parameters
    ----------
    jitter : float
        How much the choice of the side is left to chance, from 0 to 1.
    """
    from kohort.kernels.search.halves import order_by_halves

    order = np.arange(len(array))
    seed = rng.integers(2**63, size=1, dtype=np.uint64)
    order_by_halves(np.ascontiguousarray(array.T), costs, leaf, jitter, seed, order)
    return order


def first_partition(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    costs: Costs,
    k: int,
    columns: list[int],
    rng: np.random.Generator,
) -> tuple[int, NDArray[np.int32]]:
    """The better one of two cuts: of the rows sorted by the columns, and of those halved."""
    orders = (in_order(codes, columns), halved(codes, costs, max(2, k // 2), rng))
    cuts = [best_cut(codes, costs, k, order, counts) for order in orders]
    return min(cuts, key=lambda cut: cut[0])


def best_cut(
    codes: NDArray[np.int32],
    costs: Costs,
    k: int,
    order: NDArray[np.int64],
    counts: NDArray[np.int64] | None = None,
) -> tuple[int, NDArray[np.int32]]:
    """Cut an order into runs of k to 2k - 1 records at the least loss; the loss, and a label per record.

    Parameters
    ----------
    codes : int32[m, d]
        Rows.
    order : int64[m]
        The rows in their order.
    counts : int64[m], optional
        Copies of each row; 1 when absent. The records are the copies of the first row, of the second, and so on.
    """
    from kohort.kernels.boxes import NEVER
    from kohort.kernels.search.cut import cut_into_runs, label_runs

    copies = np.ones(len(codes), np.int64) if counts is None else counts
    row = np.repeat(order.astype(np.int32), copies[order])
    n = len(row)
    least = np.full(n + 1, NEVER, np.int64)
    least[0] = 0
    previous = np.zeros(n + 1, np.int32)
    step = max(1, STEP // (2 * k))
    for start in range(0, n, step):
        cut_into_runs(codes, row, costs, k, start, min(n, start + step), least, previous)
    runs = np.empty(n, np.int32)
    label_runs(previous, runs)
    labels = np.empty(n, np.int32)
    # The sort is stable, so the copies of a row keep the order in which they were cut.
    labels[:] = runs[np.argsort(row, kind="stable")]
    return int(least[n]), labels


def column_order(
    codes: NDArray[np.int32], counts: NDArray[np.int64], costs: Costs, k: int, rng: np.random.Generator
) -> list[int]:
    """The order of the columns whose sorted records have the best cut, as far as a search on a sample shows.

    It starts with small columns first. A column is taken out and put elsewhere as long as that helps.
    """
    n, d = int(counts.sum()), codes.shape[1]
    size = k
    array = np.repeat(codes, counts, axis=0) if n <= SAMPLE else codes
    if n > SAMPLE:
        records = rng.choice(n, SAMPLE, replace=False)
        array = codes[np.searchsorted(np.cumsum(counts), records, side="right")]
        # In a sample the neighbours are further apart, so a class has fewer of them.
        size = max(2, round(k * SAMPLE / n))
    order = [int(column) for column in np.argsort(costs.size, kind="stable")]
    least = best_cut(array, costs, size, in_order(array, order))[0]
    trials, unchanged = 0, 0
    moves = [(source, target) for source in range(d) for target in range(d) if source != target]
    while moves and unchanged < len(moves) and trials < TRIALS:
        source, target = moves[trials % len(moves)]
        trials += 1
        unchanged += 1
        tried = order.copy()
        tried.insert(target, tried.pop(source))
        loss = best_cut(array, costs, size, in_order(array, tried))[0]
        if loss < least:
            least, order, unchanged = loss, tried, 0
    return order
