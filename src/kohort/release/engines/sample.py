"""A sample of the table, the same on every engine, and the cuts that are found on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from kohort.codes.boxes import Boxes, Solution
from kohort.codes.encode import Codes
from kohort.release.engines.cuts import Cuts, dealt_cuts, find_cuts
from kohort.release.engines.job import Job
from kohort.release.engines.lookups import COUNT
from kohort.search.refine import Effort, Search

SAMPLE = 100_000
"""Records that the cuts are looked for in."""
FEWEST_ROWS = 2_000
"""Distinct rows that a sample has at least, if the table has them."""
EFFORT = Effort(30.0)
"""How long the sample is clustered."""
FEWEST_CLASSES = 20
"""Records of a partition at least, in multiples of k."""
CLASSES, LARGE = 400, 20_000
"""Records of a partition on average, in multiples of k, or as a number: fewer would lose too much at the borders."""
_PRIME = 2**31 - 1
_STEP = 48271

Counted = Callable[[str], pl.DataFrame]
"""Distinct codes of the records for which a condition in SQL holds, and their number in the column COUNT."""


def condition(columns: Sequence[str], share: float) -> str:
    """True for about this share of all distinct rows of codes: a condition in SQL that every engine decides alike."""
    return f"{mixture(columns)} < {int(share * _PRIME)}"


def mixture(columns: Sequence[str], turns: int = 1) -> str:
    """A number below 2^31 - 1 that looks random, the same for equal rows of codes: an expression in SQL.

    The codes are mixed by Lehmer's generator. No product exceeds 63 bits.

    Parameters
    ----------
    turns : int
        Of the generator; with another number of them the numbers are others.
    """
    terms = [
        f"(CAST({column} AS BIGINT) * {pow(_STEP, number + 2, _PRIME)}) % {_PRIME}"
        for number, column in enumerate(columns)
    ]
    return f"((({' + '.join(terms)}) % {_PRIME}) * {pow(_STEP, turns, _PRIME)}) % {_PRIME}"


def expression(job: Job) -> str:
    """The partition of a record in SQL."""
    return job.cuts.expression([*job.code_columns, mixture(job.code_columns, turns=2)])


def dealt(job: Job, most: float) -> Job:
    """The job with partitions of limited size that are dealt by chance; equal rows of codes stay together.

    Every partition then has about the sensitive values that the whole table has. Records lie further apart in it, which
    costs information: this is for tables whose partitions would else be too large.
    """
    return replace(job, cuts=dealt_cuts(len(job.axes), _PRIME, math.ceil(job.records / most)))


def with_cuts(job: Job, counted: Counted, *, parts: int, most: float = 0.0) -> Job:
    """The job with cuts into partitions, limited by their number or by their records."""
    if not most:
        parts = min(parts, max(1, job.records // min(CLASSES * job.k, LARGE)))
    if parts == 1 or job.records <= most:
        return replace(job, cuts=Cuts(0))
    share = SAMPLE / job.records
    while True:
        rows = counted(condition(job.code_columns, share) if share < 1 else "true")
        if share >= 1 or len(rows) >= FEWEST_ROWS:
            break
        share *= 8
    return replace(job, cuts=_cuts(job, rows, parts, most))


def _cuts(job: Job, rows: pl.DataFrame, parts: int, most: float) -> Cuts:
    # In the order of their codes: an engine may give them in any.
    rows = rows.sort(job.code_columns)
    array = np.ascontiguousarray(rows.select(job.code_columns).to_numpy().astype(np.int32))
    counts = rows[COUNT].to_numpy().astype(np.int64)
    # In a sample neighbours are further apart, so a class has fewer of them.
    k = max(2, round(job.k * min(1.0, counts.sum() / job.records)))
    # A row that fills classes by itself needs no more copies to show it.
    copies = np.minimum(counts, 2 * k)
    record = np.repeat(np.arange(len(array)), copies)
    codes = Codes(array[record], job.axes)
    search = Search(codes, job.costs, k, np.random.default_rng([job.plan.seed, 0]), quick=True)
    labels = search.refined(search.start, EFFORT, lambda share, cost: None)
    _, first, cluster = np.unique(labels, return_index=True, return_inverse=True)
    weights = np.bincount(cluster, (counts / copies)[record]) * (job.records / counts.sum())
    boxes = Solution.of_labels(codes, labels).boxes
    some = Boxes(boxes.lo[first], boxes.hi[first])
    return find_cuts(some, weights.astype(float), parts=parts, most=most, least=FEWEST_CLASSES * job.k)
