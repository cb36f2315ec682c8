"""`python -m tests.adversary`: run cases, or show one."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from .generate import ENGINES, case_of
from .judge import Fault
from .run import attack


def main() -> int:
    """Run as asked for; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="show this case")
    parser.add_argument("-n", type=int, default=100, help="so many cases, over the engines")
    parser.add_argument("--first", type=int, default=0, help="begin with this seed")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="one engine, or several; all when absent")
    given = parser.parse_args()
    engines = given.engine or list(ENGINES)
    seeds = [given.seed] if given.seed is not None else range(given.first, given.first + -(-given.n // len(engines)))
    with contextlib.ExitStack() as stack:
        spark = stack.enter_context(_session()) if "spark" in engines else None
        found = sum(_run(engine, seed, spark, show=given.seed is not None) for seed in seeds for engine in engines)
    _say(f"{found} findings in {len(seeds) * len(engines)} cases; ended with {dict(CODES)}; mutants {dict(TALLY)}")
    return 1 if found else 0


QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Spark lives no longer than the run."""
CODES: Counter[tuple[str, int]] = Counter()
TALLY: Counter[str] = Counter()
MUTANTS = int(os.environ.get("ADVERSARY_MUTANTS", "3"))


def _session() -> Any:
    from kohort.release.engines.spark.session import session

    quick = {"spark.sql.shuffle.partitions": "4", "spark.sql.codegen.wholeStage": "false"}
    return session("local[2]", quick | {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": QUICK_JAVA})


def _run(engine: str, seed: int, spark: Any, *, show: bool) -> int:
    case = case_of(seed, engine)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="adversary-") as folder:
        try:
            outcome, faults, tally = attack(case, Path(folder), spark, MUTANTS)
            TALLY.update(tally)
        except Exception:
            faults = [Fault("judge", traceback.format_exc())]
            outcome = None
        if outcome is not None:
            CODES[engine, outcome.code] += 1
        if show:
            _say(f"{case}\n{outcome and (outcome.code, outcome.out, outcome.err)}")
            if outcome and outcome.target.is_file() and outcome.target.suffix == ".csv":
                _say(outcome.target.read_text(encoding="utf-8"))
        elif os.environ.get("ADVERSARY_VERBOSE") and outcome:
            _say(f"{engine} {seed}: {outcome.code} {outcome.err.strip()[:300]} ({time.perf_counter() - start:.2f} s)")
    for fault in faults:
        _say(f"FOUND {engine} {seed}: {fault}")
    return len(faults)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
