"""Tables of many columns: seconds of every step and peak memory, from the file that is read to the verified one.

Two quasi-identifiers, all other columns insensitive. Every run is a process of its own. Give sizes as ROWSxCOLUMNS.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from tables import peak_memory

import kohort

SIZES = ["20x500", "20x1000", "20x5000", "20000x500", "100000x500"]


def one(size: str, memory: str | None, suffix: str) -> None:
    """One run: a line of the table."""
    rows, columns = map(int, size.split("x"))
    rng = np.random.default_rng(1)
    others = [f"c{number}" for number in range(columns)]
    frame = pl.DataFrame(
        {"age": rng.integers(0, 90, rows), "sex": rng.choice(["f", "m"], rows)}
        | {name: rng.integers(0, 50, rows) for name in others}
    )
    policy = kohort.Policy.build(
        k=3, quasi_identifiers=["age", "sex"], insensitive=others, algorithm="mondrian", seed=1
    ).with_changes("algorithm", bound_effort=0.0)
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / f"in.{suffix}"
        frame.write_csv(source) if suffix == "csv" else frame.write_parquet(source)
        del frame
        limit = {} if memory is None else {"memory": memory}
        release = kohort.anonymize(source, policy, output=Path(name) / f"out.{suffix}", **limit)
    steps = release.provenance.seconds
    verify = steps.pop("verify")
    print(f"| {rows:,} | {columns:,} | {suffix} | {memory or '-'} | {sum(steps.values()):.1f} | {verify:.1f} "
          f"| {peak_memory():.2f} |", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=SIZES)
    parser.add_argument("--memory", help="such as 2GB: on disk")
    parser.add_argument("--suffix", choices=["csv", "parquet"], default="csv")
    parser.add_argument("--one", action="store_true")
    given = parser.parse_args()
    if given.one:
        one(given.sizes[0], given.memory, given.suffix)
        return
    print(
        "| rows | columns | file | memory | making, s | checking, s | peak GiB |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    for size in given.sizes:
        more = ["--memory", given.memory] if given.memory else []
        subprocess.run([sys.executable, __file__, size, "--one", "--suffix", given.suffix, *more], check=True)


if __name__ == "__main__":
    main()
