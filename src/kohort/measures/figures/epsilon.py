"""How dissimilar the sensitive values of a class are (Zhang et al., PAC, paper 003, section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Codes, distinct_rows
from kohort.measures.distance import compile_metric
from kohort.measures.figures.base import FIGURES, Figure, Partition
from kohort.policy.parameters import Limits, require_number

if TYPE_CHECKING:
    from kohort.kernels.proximity import Metric

EPSILON = 0.1
"""The distance for which delta is reported, unless another is given."""
BINS = 20
"""Bins of the frequencies of eps_MIN, over 0 to 1."""
SLACK = 1e-9
"""Distances that differ by less are equal: floating-point numbers are not exact."""
WORK = 200_000_000
"""Distances per call of the kernel: often enough for Ctrl-C."""


@FIGURES.register("epsilon")
@dataclass(frozen=True)
class Epsilon(Figure):
    """Distances of the sensitive vectors in a class: the smallest (eps_MIN) and the mean (eps_AVG).

    A release is (epsilon, delta)-dissimilar if every record has, among the others of its class, a
    share of at least delta whose sensitive vectors are farther than epsilon away.

    Notes
    -----
    Time O(s^2) for the s distinct sensitive vectors of each class; memory O(n).

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from kohort.codes.encode import Codes, LineAxis
    >>> axis = LineAxis("pay", 1.0, pl.Series([1, 2, 3, 4, 5, 6]), 1.0, 6.0, False)
    >>> pay = Codes(np.arange(6, dtype=np.int32)[:, None], (axis,))
    >>> odd_even = Partition(np.array([0, 1, 0, 1, 0, 1]), (), pay.array, pay.array, pay, 3, 0)
    >>> round(Epsilon().of(odd_even)["mean_eps_min"], 3), delta_at(odd_even, 0.3)
    (0.4, 1.0)
    """

    epsilon: float = EPSILON
    """The distance, 0 to 1, for which the largest possible delta is reported."""

    summary = "how far apart the sensitive values of a class are: smallest and mean distance"
    paper = "Zhang et al., PAC (003), eq. 3 and 12 to 14"
    uses_sensitive = True

    def __post_init__(self) -> None:
        require_number("epsilon", self.epsilon, Limits(least=0, most=1))

    def of(self, partition: Partition) -> dict[str, Any]:
        """Compute it; there is nothing to report without sensitive columns.

        "smallest_eps_min" is the smallest distance of two records of any class: the release is
        (epsilon, 1)-dissimilar for every epsilon below it, and for none if it is 0.
        """
        if partition.sensitive is None or not len(partition.labels):
            return {}
        smallest, mean, share = class_distances(partition.labels, partition.sensitive, self.epsilon)
        return {
            "smallest_eps_min": float(smallest.min()),
            "mean_eps_min": float(smallest.mean()),
            "mean_eps_avg": float(mean.mean()),
            "epsilon": float(self.epsilon),
            "delta": float(share.min()),
            "eps_min_rcf": cumulative_frequencies(smallest),
        }


def delta_at(partition: Partition, epsilon: float) -> float:
    """The largest delta for which a release is (epsilon, delta)-dissimilar."""
    assert partition.sensitive is not None
    return float(class_distances(partition.labels, partition.sensitive, epsilon)[2].min())


def cumulative_frequencies(smallest: NDArray[np.float64]) -> list[float]:
    """Share of the classes whose eps_MIN lies in the first 1, 2, ... 20 of 20 equal bins from 0 to 1."""
    bins = np.minimum(((smallest + SLACK) * BINS).astype(np.int64), BINS - 1)
    shares: list[float] = (np.cumsum(np.bincount(bins, minlength=BINS)) / len(smallest)).tolist()
    return shares


def class_distances(
    labels: NDArray[np.int64], sensitive: Codes, epsilon: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each class: eps_MIN, eps_AVG, and the least share of others that are dissimilar to a record.

    A class of one record has no others: its distances are 0, and the share is 1.
    """
    array = np.column_stack([labels, sensitive.array]).astype(np.int32)
    sizes = np.array([labels.max() + 1] + [axis.size for axis in sensitive.axes], np.int64)
    vectors = distinct_rows(array, sizes)
    starts = np.flatnonzero(np.append(True, np.diff(vectors.codes[:, 0]) != 0))
    lengths = np.diff(np.append(starts, len(vectors.codes)))
    nearest, total, far = _compared(
        compile_metric(sensitive.axes),
        np.ascontiguousarray(vectors.codes[:, 1:].T),
        vectors.counts,
        np.repeat(starts + lengths, lengths),
        epsilon,
    )
    records = np.add.reduceat(vectors.counts, starts)
    others = np.maximum(records - 1, 1)
    alone = records == 1
    smallest = np.where(alone, 0.0, np.minimum.reduceat(nearest, starts))
    mean = 2 * np.add.reduceat(total, starts) / (records * others)
    share = np.where(alone, 1.0, np.minimum.reduceat(far, starts) / others)
    return smallest, mean, share


def _compared(
    metric: Metric,
    columns: NDArray[np.int32],
    counts: NDArray[np.int64],
    stops: NDArray[np.int64],
    epsilon: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    from kohort.kernels.proximity import compare_vectors

    m = len(counts)
    nearest, total, far = np.full(m, np.inf), np.zeros(m), np.zeros(m, np.int64)
    done = 0
    while done < m:
        done = compare_vectors(
            metric, columns, counts, stops, epsilon + SLACK, done, WORK, nearest, total, far
        )  # fmt: skip
    return nearest, total, far
