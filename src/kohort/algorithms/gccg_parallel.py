"""GCCG in parallel: the table is halved by distance, and the parts are clustered in threads.

Ni, Xie, Qian: Clustering based k-anonymity algorithm for privacy preservation, 2017 (paper
000), algorithm 2.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.algorithms.base import ALGORITHMS, Clusterer
from kohort.algorithms.gccg import NumericScore, distance_costs, form_classes, graded
from kohort.codes.encode import Codes
from kohort.common.stopping import Workers
from kohort.search.task import Task

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs


@ALGORITHMS.register("gccg-parallel")
@dataclass(frozen=True)
class GccgParallel(Clusterer):
    """Halve the table until it has enough parts, then run GCCG on each, in threads.

    A part is halved into its first record with the nearest ones, and the rest. Grades and ranges
    are those of the whole table. The number of threads has no influence on the result.

    Notes
    -----
    Time O(m * n / (k * c)) in c equal parts for m distinct rows of n records, shared by the
    threads; memory O(m * d + n). Class sizes are k, and k..2k-1 for the last of each part.

    Examples
    --------
    >>> import kohort
    >>> policy = kohort.Policy.build(
    ...     k=5, quasi_identifiers=["birth_date", "sex"], seed=1,
    ...     algorithm={"name": "gccg-parallel", "parts": 4})
    >>> patients = kohort.datasets.patients(1000).select(*policy.columns)
    >>> kohort.anonymize(patients, policy).provenance.clusters
    200
    """

    parts: int = 2
    """Parts are at most n / parts records large, rounded up. Parts of fewer than 2k records are not halved, so a small
    table has fewer parts. 1 is plain GCCG."""
    numeric_score: NumericScore = "freq"
    """As for GCCG."""

    summary = "gccg on parts of the table, each in a thread"
    paper = "Ni, Xie, Qian (000), 2017, algorithm 2"
    guarantee = "k-anonymity; sizes k, the last of a part k..2k-1"
    complexity = "O(n^2 / (k * parts))"

    @override
    def cluster(self, task: Task) -> NDArray[np.int32]:
        costs = distance_costs(task.codes)
        sets = halved(task.codes, costs, graded(task.codes, task.k, self.numeric_score), self.parts, task.k)
        with Workers(min(len(sets), os.cpu_count() or 1)) as pool:
            return form_classes(task, costs, sets, pool.results)


def halved(codes: Codes, costs: Costs, records: NDArray[np.int64], parts: int, k: int) -> list[NDArray[np.int64]]:
    """Algorithm 2: the records, in the order of their grades, as sets that keep this order."""
    from kohort.kernels.algorithms.gccg import distances_from

    largest = -(-len(records) // parts)
    done, sets = [], [records]
    while sets:
        here = sets.pop()
        if len(here) <= largest or len(here) < 2 * k:
            done.append(here)
            continue
        array = codes.array[here]
        # The centre comes first: no other record is nearer, and the sort is stable.
        nearest = np.argsort(distances_from(costs, array[0], array), kind="stable")[: len(here) // 2]
        near = np.zeros(len(here), bool)
        near[nearest] = True
        sets += [here[~near], here[near]]
    return done
