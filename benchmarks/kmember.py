"""Greedy k-member beside the plain loop, same table, same process, one core, warm."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from tables import EIGHT, FOUR, adult_policy

import kohort
from kohort.algorithms import ALGORITHMS
from kohort.codes.boxes import boxes_of_labels
from kohort.codes.encode import encode
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_boxes
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.plain_kmember import dense_tables, plain_kmember


def timed(call, times):
    """Result, and the median time."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return result, float(np.median(seconds))


def main():
    frame = kohort.datasets.adult()
    measure, algorithm = MEASURES.make("ncp", {}), ALGORITHMS.make("k-member", {})
    print("| quasi-identifiers | k | GCP | plain loop, s | kohort, s | ratio | same partition |")
    print("|---|---|---|---|---|---|---|")
    for quasi in (FOUR, EIGHT):
        for k in (5, 10, 50):
            policy = adult_policy(quasi, k)
            codes = encode(typed_quasi_identifiers(frame, policy), policy)
            costs = compile_costs(measure, codes.axes)
            rows = codes.distinct

            def ours(codes=codes, costs=costs, k=k):
                return algorithm.cluster(Task(codes, measure, costs, k, np.random.default_rng(1), lambda _: None))

            drawn = np.random.default_rng(1).integers(len(codes.array))
            first = rows.first[np.searchsorted(rows.first, drawn, side="right") - 1]
            ordered, tables = codes.array[rows.order], dense_tables(costs)
            plain_kmember(ordered[:200], tables, k, 0, False)  # compiles it
            ours()
            expected, slow = timed(lambda: plain_kmember(ordered, tables, k, first, False), 1)  # noqa: B023
            labels, fast = timed(ours, 5)
            boxes = boxes_of_labels(codes.array, labels)
            gcp = loss_of_boxes(measure, codes, boxes.lo, boxes.hi).total
            same = "yes" if np.array_equal(labels[rows.order], expected) else "NO"
            print(
                f"| {len(quasi)} | {k} | {gcp:.4f} | {slow:.2f} | {fast:.3f} | {slow / fast:.0f} | {same} |", flush=True
            )


if __name__ == "__main__":
    main()
