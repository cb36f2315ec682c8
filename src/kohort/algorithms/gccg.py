"""GCCG: grading, centering, clustering, generalization.

Ni, Xie, Qian: Clustering based k-anonymity algorithm for privacy preservation, 2017 (paper
000), algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.codes.encode import Codes, LineAxis
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.search.task import Task

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

NumericScore = Literal["freq", "freq_over_k"]

WORK = 2**22
"""Rows scanned per call of the kernel: often enough for progress and for Ctrl-C."""


@ALGORITHMS.register("gccg")
@dataclass(frozen=True)
class Gccg(Clusterer):
    """Grade the records, then let the best one that is left take its k - 1 nearest.

    A record with frequent values has a high grade. The distance is the paper's own (equations 4
    and 5), which is the `height` measure, whatever the measure of the policy. Ties go to the
    record with the higher grade, then to the earlier one of the input.

    Works on distinct rows: the same partition as the plain loop over all records.

    Notes
    -----
    Time O(m * n / k) for m distinct rows of n records, memory O(m * d + n). Class sizes are k,
    and k..2k-1 for the last.

    Examples
    --------
    >>> import kohort
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age", "sex"], algorithm="gccg", seed=1)
    >>> table = {"age": [39, 50, 38, 53, 28], "sex": ["m", "m", "m", "m", "f"]}
    >>> import polars as pl
    >>> sorted(kohort.anonymize(pl.DataFrame(table), policy).table.rows())
    [('[28 - 53]', '*'), ('[28 - 53]', '*'), ('[28 - 53]', '*'), ('[38 - 39]', 'm'), ('[38 - 39]', 'm')]
    """

    numeric_score: NumericScore = "freq"
    """What a number adds to a grade: its share of the records, as a category does, or this over k."""

    summary = "the most typical record left takes its k - 1 nearest"
    paper = "Ni, Xie, Qian (000), 2017, algorithm 1"
    guarantee = "k-anonymity; sizes k, the last k..2k-1"
    complexity = "O(n^2 / k)"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        return form_classes(task, distance_costs(task.codes), [graded(task.codes, task.k, self.numeric_score)])


def grades(codes: Codes, k: int, numeric_score: NumericScore = "freq") -> tuple[NDArray[np.int64], int]:
    """Grade of every record (section 4.2), as exact numerators over one denominator.

    Parameters
    ----------
    codes : Codes
        The quasi-identifiers; a missing value counts as a value.
    k : int
        Used by "freq_over_k" only.
    numeric_score : {"freq", "freq_over_k"}
        A value counts its share of the records; that of a number or date may be divided by k.

    Examples
    --------
    >>> import polars as pl
    >>> from kohort.codes.encode import encode
    >>> from kohort.policy import Policy
    >>> policy = Policy.build(k=2, quasi_identifiers=["age"])
    >>> grades(encode(pl.DataFrame({"age": [30, 30, 40]}), policy), k=2)
    (array([2, 2, 1]), 3)
    """
    n = len(codes.array)
    divisor = k if numeric_score == "freq_over_k" else 1
    total = np.zeros(n, np.int64)
    for axis, column in zip(codes.axes, codes.array.T, strict=True):
        frequency = np.bincount(column, minlength=axis.size)[column]
        total += frequency * (1 if isinstance(axis, LineAxis) else divisor)
    return total, n * divisor


def graded(codes: Codes, k: int, numeric_score: NumericScore) -> NDArray[np.int64]:
    """Order the records by grade, the highest first; equals in the order of the input."""
    return np.argsort(-grades(codes, k, numeric_score)[0], kind="stable")


def distance_costs(codes: Codes) -> Costs:
    """The paper's distance (equations 4 and 5): the cost of a pair by height, in fixed point."""
    return compile_costs(MEASURES.make("height", {}), codes.axes)


class Growth:
    """The classes of one set of records, formed some at a time.

    Parameters
    ----------
    rows : int32[records of the set]
        Distinct row of each record, in the order of the grades.
    codes : int32[m, d]
        The distinct rows of the table.
    costs : Costs
        The distance.
    k : int
        Class size.
    """

    def __init__(self, rows: NDArray[np.int32], codes: NDArray[np.int32], costs: Costs, k: int) -> None:
        from kohort.kernels.algorithms.gccg import LIVE
        from kohort.kernels.costs import LINE
        from kohort.kernels.search.scan import pack

        used, row_at, counts = np.unique(rows, return_inverse=True, return_counts=True)
        lines = [
            costs.flat[offset : offset + size] if kind == LINE else None
            for kind, offset, size in zip(costs.kind, costs.offset, costs.size, strict=True)
        ]
        self.k = k
        self.labels = np.full(len(rows), -1, np.int32)
        self.costs = costs
        self.codes = codes[used]
        self.packs = pack(self.codes, costs.size, lines)
        self.row_at = row_at.astype(np.int32)
        self.copies = np.argsort(self.row_at, kind="stable")
        self.end = np.cumsum(counts)
        self.ahead = self.end - counts
        self.slots = np.arange(len(used), dtype=np.int32)
        self.state = np.zeros(3, np.int64)
        self.state[LIVE] = len(used)

    @property
    def classes(self) -> int:
        """Number of classes when all is done."""
        return max(1, len(self.labels) // self.k)

    @property
    def formed(self) -> int:
        """Number of classes so far."""
        from kohort.kernels.algorithms.gccg import CLASSES

        return int(self.state[CLASSES])

    def step(self) -> None:
        """Form more classes; the last one takes what is left."""
        from kohort.kernels.algorithms.gccg import CLASSES, LIVE, grow_classes

        most = max(1, WORK // int(self.state[LIVE]))
        grow_classes(
            self.codes, self.row_at, self.copies, self.end, self.costs, self.packs, self.k, most,
            self.slots, self.ahead, self.state, self.labels,
        )  # fmt: skip
        if self.formed == self.classes - 1:
            self.labels[self.labels < 0] = self.formed
            self.state[CLASSES] += 1


Run = Callable[[Callable[[Growth], None], Iterable[Growth]], Iterable[None]]
"""Applies a function to each of some things, as `map` does."""


def form_classes(task: Task, costs: Costs, sets: list[NDArray[np.int64]], run: Run = map) -> NDArray[np.int32]:
    """Form the classes of each set of records, given in the order of their grades."""
    distinct = task.codes.distinct
    n = len(distinct.order)
    row_of = distinct.by_record(distinct.row)
    growths = [Growth(row_of[records], distinct.codes, costs, task.k) for records in sets]
    total = sum(growth.classes for growth in growths)
    while unfinished := [growth for growth in growths if growth.formed < growth.classes]:
        for _ in run(Growth.step, unfinished):
            pass
        task.progress(sum(growth.formed for growth in growths) / total)
    labels = np.empty(n, np.int32)
    before = 0
    for records, growth in zip(sets, growths, strict=True):
        labels[records] = growth.labels + before
        before += growth.classes
    return labels
