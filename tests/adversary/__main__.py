"""`python -m tests.adversary`: run cases, or show one."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from .generate import ENGINES
from .work import Found, say, work

SHARES = {"memory": 6, "disk": 3, "spark": 1}
"""Of ten cases, how many are of each engine: one of Spark takes about as long as three others."""
BATCH = 10


def main() -> int:
    """Run as asked for; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="show this case")
    parser.add_argument("-n", type=int, default=100, help="so many cases, over the engines")
    parser.add_argument("--first", type=int, default=0, help="begin with this seed")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="one engine, or several; all when absent")
    shares = ",".join(map(str, SHARES.values()))
    parser.add_argument("--shares", default=shares, help=f"cases of {', '.join(ENGINES)} in proportion ({shares})")
    parser.add_argument("-j", type=int, default=1, help="so many processes; Spark has one of them")
    given = parser.parse_args()
    engines = given.engine or list(ENGINES)
    if given.seed is not None:
        batches = [(engine, [given.seed]) for engine in engines]
    else:
        batches = _batches(given.n, given.first, engines, dict(zip(ENGINES, given.shares.split(","), strict=True)))
    found = Found()
    for some in _worked(batches, given.j, show=given.seed is not None):
        found.add(some)
    counts = f"ended with {dict(sorted(found.codes.items()))}; mutants {dict(sorted(found.mutants.items()))}"
    say(f"{found.faults} findings in {found.cases} cases; {counts}")
    released = sum(times for (_, code), times in found.codes.items() if code == 0)
    if given.seed is None and 2 * released < found.cases:
        say(f"only {released} of {found.cases} cases ended with a release: the requests are not what they should be")
        return 1
    return 1 if found.faults else 0


def _batches(n: int, first: int, engines: list[str], shares: dict[str, str]) -> list[tuple[str, list[int]]]:
    """Seeds of each engine, some at a time; those of Spark all at once and first, for they share its start."""
    weights = {engine: int(shares[engine]) for engine in engines}
    sizes = {engine: -(-n * weight // max(1, sum(weights.values()))) for engine, weight in weights.items()}
    found = []
    for engine in sorted(engines, key=ENGINES.index, reverse=True):
        step = max(1, sizes[engine]) if engine == "spark" else BATCH
        starts = range(first, first + sizes[engine], step)
        found += [(engine, list(range(start, min(start + step, first + sizes[engine])))) for start in starts]
    return found


def _worked(batches: list[tuple[str, list[int]]], jobs: int, *, show: bool) -> Any:
    if jobs == 1:
        for engine, seeds in batches:
            yield work(engine, seeds, show=show)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(work, *batch, show=show) for batch in batches]):
            yield done.result()


if __name__ == "__main__":
    sys.exit(main())
