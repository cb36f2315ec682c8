"""Spark on a real standalone cluster of this machine: one worker and two, tables of several sizes, loss beside memory.

Every worker is a process of its own with one core. Two workers on two virtual cores are faster than one by what the
machine gives, which is far from twice: the line `two processes` tells how much that is, measured with the same work and
without Spark.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from scale import policy as hospital
from tables import census_case

import kohort
import kohort.spark

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from spark.clusters import CLUSTER, standalone

CENSUS = 299_000
"""Records of Census-Income."""
PART = 50_000
"""Records of a part."""
ALONE = """
import sys; sys.path[:0] = [{here!r}]
import polars as pl, kohort
from tables import census_case
frame = pl.read_parquet({table!r})
policy = census_case(10)[1].with_changes("algorithm", name={name!r}, seed=1, bound_effort=0.0)
kohort.anonymize(frame.head(1000), policy)
input_ = sys.stdin.readline()
kohort.anonymize(frame, policy)
"""


def census(records: int, name: str, **parameters: object) -> tuple[pl.DataFrame, kohort.Policy]:
    frame, policy = census_case(10)
    policy = policy.with_changes("algorithm", name=name, parameters=parameters, seed=1, bound_effort=0.0)
    return frame.sample(records, seed=1), policy


def timed(session: object, frame: pl.DataFrame, policy: kohort.Policy, partitions: int) -> tuple[float, float, float]:
    """Seconds of a release that is worked out and written, those of its verification, and its loss."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "in.parquet"
        frame.write_parquet(table, row_group_size=20_000)
        original = session.read.parquet(str(table))
        start = time.perf_counter()
        out = Path(folder) / "out.parquet"
        kohort.spark.anonymize(original, policy, partitions=partitions).write.parquet(str(out))
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        assert kohort.spark.verify(session.read.parquet(str(out)), policy, original=original).passed
        verifying = time.perf_counter() - start
        return seconds, verifying, kohort.measure(pl.read_parquet(out / "*.parquet"), frame, policy).total


def two_processes(frame: pl.DataFrame, policy: kohort.Policy) -> float:
    """How much more two processes do in the same time than one."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "in.parquet"
        frame.write_parquet(table)
        code = ALONE.format(here=str(Path(__file__).parent), table=str(table), name=policy.algorithm.name)
        seconds = []
        for count in (1, 2):
            running = [
                subprocess.Popen(
                    ["taskset", "-c", str(core), sys.executable, "-c", code], stdin=subprocess.PIPE, text=True
                )
                for core in range(count)
            ]
            time.sleep(20)  # both are warm by then, and wait
            start = time.perf_counter()
            for process in running:
                process.stdin.write("\n")
                process.stdin.flush()
            for process in running:
                process.wait()
            seconds.append(time.perf_counter() - start)
    return 2 * seconds[0] / seconds[1]


def cases(records: list[int]) -> Iterator[tuple[str, pl.DataFrame, kohort.Policy, int]]:
    """Tables, policies and parts: time as the hospital grows, and loss on Census-Income as the parts do."""
    for count in records:
        yield "hospital, auto", kohort.datasets.patients(count, seed=1), hospital(10), max(1, count // PART)
    for parts in (1, 4, 16):
        yield "Census-Income, auto", *census(CENSUS, "auto"), parts
    for count in (CENSUS // 4, CENSUS // 2):
        yield "Census-Income, pac", *census(count, "pac", t=count // 1000), 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="*", default=[250_000, 500_000, 1_000_000])
    given = parser.parse_args()
    largest, policy = census(CENSUS, "auto")
    print(f"two processes on two cores do {two_processes(largest, policy):.2f} times the work of one", flush=True)
    print(f"Census-Income in memory: {kohort.anonymize(largest, policy).loss.total:.4f}\n", flush=True)
    print("| table | records | parts | workers | s | us per record | verify s | GCP |\n" + "|---" * 8 + "|", flush=True)
    for workers in (1, 2):
        with (
            tempfile.TemporaryDirectory() as folder,
            standalone(Path(folder), workers) as (address, _),
            kohort.spark.session(address, CLUSTER) as session,
        ):
            timed(session, *census(5_000, "auto"), 4)  # starts and compiles
            for name, frame, policy, parts in cases(given.records):
                seconds, verifying, loss = timed(session, frame, policy, parts)
                print(
                    f"| {name} | {frame.height:,} | {parts} | {workers} | {seconds:.1f} "
                    f"| {1e6 * seconds / frame.height:.0f} | {verifying:.1f} | {loss:.4f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
