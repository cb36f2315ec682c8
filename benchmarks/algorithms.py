"""Every algorithm side by side: loss, classes and time of each, in a process of its own, on one core.

    python benchmarks/algorithms.py                     # Adult, k = 10; and gccg-parallel on two cores
    python benchmarks/algorithms.py --seeds 5           # median and spread of the loss
    python benchmarks/algorithms.py --census            # Census-Income as well
    python benchmarks/algorithms.py --only cb mdav --json out.json

Seconds are those of the second run: the first one loads or compiles the kernels. CPU seconds tell
what a run takes on a machine that has other work to do.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from tables import adult_case, census_case, peak_memory

from kohort.algorithms import ALGORITHMS
from kohort.errors import KohortError
from kohort.measures.loss import loss_of_solution
from kohort.release.engines.frame import loaded, usable_of
from kohort.release.plan import plan_of
from kohort.table import read_table

K = 10
CASES = {"adult": adult_case, "census": census_case}
LIMITS = {
    "gccg": 5, "systematic": 5, "mondrian": 5, "top-down-greedy": 5, "cb": 5, "mdav": 5, "oka": 5,
    "kaca": 20, "incognito": 10, "pac": 20,
}  # fmt: skip
"""Seconds that an algorithm may take on Adult, on one core."""
WARM_UP = 5000
"""Records of Census-Income that the first run is on."""
PAIR = ("gccg", "gccg-parallel")


# -- in a process of its own -----------------------------------------------------------------------


def use_cores(number):
    """Keep this process, and all threads that it starts, on so many cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:number])


def prepared(name, frame, policy):
    """A function that runs an algorithm with a seed: the solution, its loss, seconds and CPU seconds."""
    changed = policy.with_changes("algorithm", name=name).with_changes("privacy", anonymity=ALGORITHMS[name].anonymity)
    plan = plan_of(changed)
    source = read_table(frame, changed.input)
    usable = usable_of(source, changed)
    codes = loaded(plan, usable).codes

    def run(seed):
        seeded = plan_of(changed.with_changes("algorithm", seed=seed))
        task = loaded(seeded, usable).work.whole
        start = time.perf_counter(), time.process_time()
        solution = seeded.algorithm.solve(task)
        seconds, busy = time.perf_counter() - start[0], time.process_time() - start[1]
        return {
            "loss": loss_of_solution(plan.measure, codes, solution).total,
            "classes": groups(solution) if plan.algorithm.anonymity == "classes" else solution.clusters,
            "suppressed": solution.suppressed,
            "seconds": seconds,
            "cpu": busy,
        }

    return run


def groups(solution):
    """Number of published classes: two clusters with the same box are one."""
    boxes = solution.boxes if solution.kept is None else solution.boxes.of(solution.kept)
    return len(np.unique(np.hstack([boxes.lo, boxes.hi]), axis=0))


def measured(name, table, seeds):
    """One algorithm on one table, or why it refuses."""
    use_cores(1)
    frame, policy = CASES[table](K)
    try:
        prepared(name, frame if table == "adult" else frame.head(WARM_UP), policy)(1)
        run = prepared(name, frame, policy)
        runs = [run(seed) for seed in range(1, seeds + 1)]
    except KohortError as error:
        return {"refused": error.faults[0]}
    return {"runs": runs, "peak": peak_memory()}


def raced(times):
    """Both of a pair in turn, on two cores: median seconds of each."""
    use_cores(2)
    frame, policy = adult_case(K)
    runs = {name: prepared(name, frame, policy) for name in PAIR}
    for run in runs.values():
        run(1)
    seconds = {name: [] for name in PAIR}
    for _ in range(times):
        for name, run in runs.items():
            seconds[name].append(run(1)["seconds"])
    return {name: statistics.median(found) for name, found in seconds.items()}


# -- the tables that are printed -------------------------------------------------------------------


def in_process(*arguments, timeout=None):
    """What this file prints for the arguments, in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    found = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    if found.returncode:
        raise SystemExit(found.stderr)
    return json.loads(found.stdout)


def outcome(name, table, given):
    """What came of one algorithm: figures, a refusal, or an end by the clock."""
    try:
        found = in_process("--one", name, table, "--seeds", str(given.seeds), timeout=given.timeout)
    except subprocess.TimeoutExpired:
        found = {"refused": f"stopped after {given.timeout:,} s"}
    return {"table": table, "algorithm": name, "k": K, "anonymity": ALGORITHMS[name].anonymity} | found


def print_head(table):
    print(f"\n### {table}, k = {K}, one core\n")
    print("| algorithm | k counts | loss (NCP) | spread | classes | suppressed | s | CPU s | limit, s | peak GiB |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)


def print_row(row):
    limit = LIMITS.get(row["algorithm"], "") if row["table"] == "adult" else ""
    if "refused" in row:
        print(f"| {row['algorithm']} | {row['anonymity']} | {row['refused']} | | | | | | {limit} | |", flush=True)
        return
    runs = row["runs"]
    losses = [run["loss"] for run in runs]
    middle = {name: statistics.median(run[name] for run in runs) for name in ("seconds", "cpu", "classes")}
    spread = f"{min(losses):.4f} - {max(losses):.4f}" if len(losses) > 1 else ""
    print(
        f"| {row['algorithm']} | {row['anonymity']} | {statistics.median(losses):.4f} | {spread} "
        f"| {middle['classes']:,.0f} | {max(run['suppressed'] for run in runs):,} | {middle['seconds']:.2f} "
        f"| {middle['cpu']:.2f} | {limit} | {row['peak']:.2f} |",
        flush=True,
    )


def main(given):
    names = given.only or list(ALGORITHMS)
    rows = []
    for table in ("adult", "census") if given.census else ("adult",):
        print_head(table)
        for name in names:
            rows.append(outcome(name, table, given))
            print_row(rows[-1])
    race = None
    if set(PAIR) <= set(names):
        race = in_process("--race", "5")
        slow, fast = (race[name] for name in PAIR)
        print(f"\nAdult, two cores, median of 5 in turn: {PAIR[0]} {slow:.2f} s, {PAIR[1]} {fast:.2f} s, "
              f"{slow / fast:.2f} times as fast.")  # fmt: skip
    if given.json:
        given.json.write_text(json.dumps({"rows": rows, "race": race}, indent=2) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(ALGORITHMS), help="these algorithms only")
    parser.add_argument("--seeds", type=int, default=1, help="runs with seeds 1, 2, ...")
    parser.add_argument("--census", action="store_true", help="Census-Income, too")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds after which an algorithm is stopped")
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--race", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    if given.one:
        print(json.dumps(measured(*given.one, given.seeds)))
    elif given.race:
        print(json.dumps(raced(given.race)))
    else:
        main(given)
