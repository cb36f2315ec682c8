"""Records of the Ewens-Pitman model, one after the other."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import kernel
from kohort.kernels.random import below, share


@kernel
def class_sizes(
    records,  # IN   int, fewer than 2**31
    theta,  # IN   float
    alpha,  # IN   float
    seed,  # IN   uint64
):
    """Draw the sizes of the classes of some records; sizes of 0 fill the rest."""
    state = np.array([seed], np.uint64)
    of_record = np.empty(records, np.int32)
    sizes = np.zeros(records, np.int64)
    classes = 0
    for record in range(records):
        found = classes
        if record > 0 and share(state) * (theta + record) >= theta + alpha * classes:
            # a class by its records less alpha: by a record of it, which is refused in alpha of size cases
            found = of_record[below(state, record)]
            while share(state) * sizes[found] < alpha:
                found = of_record[below(state, record)]
        of_record[record] = found
        sizes[found] += 1
        classes = max(classes, found + 1)
    return sizes
