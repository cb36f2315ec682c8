"""A lower bound on the loss of every k-anonymous local recoding, by the dual of a linear program.

Values y, one per record, such that in every box the k largest sum to no more than k times the cost
of the box, sum to no more than the loss of any release: docs/bound.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Codes
from kohort.measures.base import Measure
from kohort.measures.bounds.costs import UNIT

if TYPE_CHECKING:
    from kohort.measures.bounds.rows import Pool, Rows

STEPS = 10**8
"""Elementary steps for an effort of 1: about a second."""
MASTER_ROUNDS = 300
"""Primal-dual steps between two searches for boxes."""
TRUST = 0.05
"""By what part of itself a value may be raised in the first round."""
STALE = 6
"""Rounds of next to no gain after which the search ends."""
NEXT_TO_NONE = 2e-5
"""A relative gain that is not worth a round."""
IDLE = 12
"""Rounds after which a set without a price is forgotten."""
MOST_ENTRIES = 2 * 10**7
"""With more entries than this, all sets without a price are forgotten."""


@dataclass(frozen=True)
class Bound:
    """What no release can do better than."""

    value: float
    """Loss as `Loss.total` counts it, rounded down."""
    y: NDArray[np.int64]
    """The certificate: a value for each record, 2**30 for the cost 1.0 in the column of the largest weight."""
    method: str
    """`nearest`: by the (k-1)-th nearest records; `dual`: by the dual of the linear program."""


def lower_bound(codes: Codes, measure: Measure, k: int, rng: np.random.Generator, effort: float = 20.0) -> Bound:
    """Bound the loss of any release in which every record shares its box with k - 1 others, or is suppressed.

    Parameters
    ----------
    codes : Codes
        The quasi-identifiers.
    measure : Measure
        Any measure of the registry.
    k : int
        At most the number of records.
    rng : numpy.random.Generator
        Decides which records are looked at if there is no time for all.
    effort : float
        Steps that may be spent, in 100 millions: about as many seconds. The bound is valid after any.

    Notes
    -----
    First every row gets the cost up to its (k-1)-th nearest record, then rounds of column
    generation raise these values: a master problem over known sets proposes values, and a
    search for the boxes that forbid them makes them valid and finds new sets. Rounds end when the
    effort is spent or little is gained.

    Examples
    --------
    >>> import kohort
    >>> import polars as pl
    >>> from kohort.codes.encode import encode
    >>> from kohort.measures import MEASURES
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"])
    >>> codes = encode(pl.DataFrame({"age": [30, 31, 64, 70]}), policy)
    >>> bound = lower_bound(codes, MEASURES.make("ncp", {}), 2, np.random.default_rng(1))
    >>> f"{bound.value:.4f}"  # [30 - 31] and [64 - 70]: (1 + 1 + 6 + 6) / 40 / 4
    '0.0875'
    """
    n = len(codes.array)
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and the number of records, {n}; got {k}.")
    from kohort.kernels.ahead import BOUND, await_kernels
    from kohort.measures.bounds.rows import Rows

    await_kernels(BOUND)
    rows = Rows(codes, measure, k)
    steps = int(effort * STEPS)
    values = rows.own_costs()
    drawn = rng.permutation(np.flatnonzero(rows.counts < k))
    left = rows.nearest(drawn, steps, values)
    method = "nearest"
    if left > 0:
        raised = _ascend(rows, values, patience=min(max(steps // 200, 10**5), 3 * 10**7), steps=left)
        if rows.total(raised) > rows.total(values):
            values, method = raised, "dual"
    by_record = codes.distinct.by_row(_in_row_order(rows, values))
    return Bound(_normalised(rows.total(values) - rows.credit, codes), by_record, method)


def _in_row_order(rows: Rows, values: NDArray[np.int64]) -> NDArray[np.int64]:
    by_row = np.empty_like(values)
    by_row[rows.order] = values
    return by_row


def _normalised(total: int, codes: Codes) -> float:
    """Mean over records and weighted columns, a little less than exact: it is rounded down."""
    largest = max(axis.weight for axis in codes.axes)
    weight = sum(axis.weight for axis in codes.axes) / largest
    return max(total, 0) / (UNIT * weight * len(codes.array)) * (1 - 1e-12)


def _ascend(rows: Rows, base: NDArray[np.int64], patience: int, steps: int) -> NDArray[np.int64]:
    """Raise valid values by column generation, within a region above the best so far that is trusted."""
    # A row with k copies has a box of its own; and nobody pays more than for being suppressed.
    most = np.where(rows.counts < rows.k, rows.costs.full.sum(dtype=np.int64), base)
    small = rows.total(base) // (20 * int(rows.counts.sum())) + 1
    best, pool, left = rows.insert(base, np.minimum(2 * base + small, most), patience, steps)
    proposal = best / UNIT
    trust, patient = TRUST, STALE
    spent = steps - left
    while patient > 0 and len(pool.size):
        left -= MASTER_ROUNDS * len(pool.row)
        if left < spent:  # a round that is not finished is worth nothing
            break
        upper = np.minimum(best * (1 + trust) + trust * small, most) / UNIT
        proposal = np.minimum(proposal, upper)
        _solve_master(rows, pool, upper, proposal)
        targets = np.minimum((proposal * UNIT).astype(np.int64), most)
        values, found, remaining = rows.insert(base, targets, patience, left)
        spent, left = left - remaining, remaining
        hoped, gained = (rows.total(those) - rows.total(best) for those in (targets, values))
        trust = _next_trust(trust, hoped, gained)
        patient = STALE if gained > rows.total(best) * NEXT_TO_NONE else patient - 1
        best = values if gained > 0 else best
        pool = _tidied(pool, found)
    return best


def _solve_master(rows: Rows, pool: Pool, upper: NDArray[np.float64], proposal: NDArray[np.float64]) -> None:
    """Move the proposal towards the largest sum that the known sets allow."""
    from kohort.kernels.bounds.bound import solve_master

    weight = rows.counts.astype(np.float64)
    starts, bounds = np.append(0, np.cumsum(pool.size)), rows.k * pool.cost / UNIT
    solve_master(weight, upper, starts, pool.row, pool.times, bounds, rows.k, MASTER_ROUNDS, proposal, pool.price)


def _next_trust(trust: float, hoped: int, gained: int) -> float:
    """Trust more when a proposal was worth most of what it promised, less when it was worth little of it."""
    if gained > 0.75 * hoped:
        return min(1.25 * trust, 4 * TRUST)
    return max(0.7 * trust, TRUST / 5) if gained < 0.2 * hoped else trust


def _tidied(pool: Pool, found: Pool) -> Pool:
    """The known sets that still matter, and the new ones."""
    idle = np.where(pool.price > 0, 0, pool.idle + 1)
    pool = replace(pool, idle=idle).only(idle < (IDLE if len(pool.row) < MOST_ENTRIES else 1))
    return type(pool).union([pool, found])
