"""A process of its own: every algorithm on one table with so many cores; prints a hash of each solution.

Run by `test_the_number_of_threads_does_not_matter`.
"""

import json
import os
import sys

import numpy as np


def main(cores):
    if hasattr(os, "sched_setaffinity"):
        there = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, there[:cores])
    # Threads are drawn by the number of cores, so two are used even where there is only one.
    os.cpu_count = lambda: cores

    from contract.tables import UNBALANCED, Example, mixed, trial_of
    from kohort.algorithms import ALGORITHMS
    from oracles.promises import digest

    example = Example.of(mixed(np.random.default_rng(3), 3001), k=7, hierarchies={"c": UNBALANCED})
    found = {}
    for name in ALGORITHMS:
        trial = trial_of(name, example)
        found[name] = digest(trial.algorithm.solve(trial.task))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
