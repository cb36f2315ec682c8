"""How often each sensitive value occurs in each class, without a table of classes times values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kohort.measures.figures.base import Partition
from kohort.privacy.base import Histogram


def value_counts(partition: Partition) -> dict[str, Histogram]:
    """Count the values of every sensitive column in every class."""
    assert partition.sensitive is not None
    return {
        axis.name: _histogram(partition, partition.sensitive.array[:, j].astype(np.int64), axis.size)
        for j, axis in enumerate(partition.sensitive.axes)
    }


def _histogram(partition: Partition, codes: NDArray[np.int64], size: int) -> Histogram:
    pairs, counts = np.unique(partition.labels * size + codes, return_counts=True)
    return Histogram(pairs // size, pairs % size, counts.astype(np.int64))
