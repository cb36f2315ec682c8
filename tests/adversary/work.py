"""Runs some cases of an engine in one process, and says what was found."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .generate import case_of
from .judge import Fault
from .run import attack

MUTANTS = int(os.environ.get("ADVERSARY_MUTANTS", "3"))
QUICK_SPARK = {
    "spark.driver.memory": "1g",
    # Spark lives no longer than the run, and its tables are tiny: what it does for large ones costs more than it gives.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}


@dataclass
class Found:
    """What some cases came to: how many there were, their faults, how they ended, and what became of mutants."""

    cases: int = 0
    faults: int = 0
    codes: Counter[tuple[str, int]] = field(default_factory=Counter)
    mutants: Counter[str] = field(default_factory=Counter)

    def add(self, other: Found) -> None:
        """Count others, too."""
        self.cases += other.cases
        self.faults += other.faults
        self.codes += other.codes
        self.mutants += other.mutants


def work(engine: str, seeds: list[int], *, show: bool = False) -> Found:
    """Run some cases of an engine."""
    found = Found()
    with ExitStack() as stack:
        spark = stack.enter_context(_session()) if engine == "spark" else None
        for seed in seeds:
            found.add(_run(engine, seed, spark, show=show))
    return found


def _session() -> Any:
    from kohort.release.engines.spark.session import session

    return session("local[1]", QUICK_SPARK)


def _run(engine: str, seed: int, spark: Any, *, show: bool) -> Found:
    case = case_of(seed, engine)
    found, outcome = Found(1), None
    start = time.process_time()
    with tempfile.TemporaryDirectory(prefix="adversary-") as folder:
        try:
            outcome, faults, tally = attack(case, Path(folder), spark, MUTANTS)
            found.mutants.update(tally)
        except Exception:
            faults = [Fault("judge", traceback.format_exc())]
        if outcome is not None:
            found.codes[engine, outcome.code] += 1
        if show:
            say(f"{case}\n{outcome and (outcome.code, outcome.out, outcome.err)}")
            if outcome and outcome.target.is_file() and outcome.target.suffix == ".csv":
                say(outcome.target.read_text(encoding="utf-8"))
        elif os.environ.get("ADVERSARY_VERBOSE") and outcome:
            seconds = time.process_time() - start
            met = ", ".join(f"{times} {what}" for what, times in sorted(found.mutants.items()) if times)
            say(f"{engine} {seed}: {outcome.code} {outcome.err.strip()[:300]} {met} ({seconds:.2f} s)")
    for fault in faults:
        say(f"FOUND {engine} {seed}: {fault}")
    found.faults = len(faults)
    return found


def say(text: str) -> None:
    """Print at once: other processes print, too."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
