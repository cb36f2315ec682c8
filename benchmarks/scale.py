"""Beyond memory: time per record and peak memory of whole runs, read to verified file, as the table grows.

Tables come from the built-in hospital, nine quasi-identifiers, in Parquet files of five million rows. Every run is a
process of its own. Give sizes in millions; the files are kept in the folder for the next time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tables import peak_memory

import kohort

NINE = [
    "birth_date",
    "sex",
    "zip_code",
    "ethnicity",
    "education",
    "admission_date",
    "length_of_stay",
    "diagnosis",
    "cost",
]
FILE = 5_000_000
"""Rows of a file."""


def policy(k: int) -> kohort.Policy:
    trees = kohort.datasets.patients_hierarchies()
    return kohort.Policy.build(
        k=k,
        identifiers=["name"],
        quasi_identifiers=NINE,
        hierarchies={"zip_code": {"prefix": [5, 3]}} | {name: {"tree": tree} for name, tree in trees.items()},
        seed=1,
    ).with_changes("algorithm", bound_effort=0.0)


def made(folder: Path, millions: float) -> Path:
    """The table in files, made where it is not there yet."""
    table = folder / f"hospital-{millions:g}M"
    table.mkdir(parents=True, exist_ok=True)
    rows = round(millions * 1e6)
    for number, first in enumerate(range(0, rows, FILE)):
        path = table / f"{number:03}.parquet"
        if not path.exists():
            code = f"import kohort; kohort.datasets.patients({min(FILE, rows - first)}, seed={number}).write_parquet"
            subprocess.run([sys.executable, "-c", f"{code}({str(path)!r})"], check=True)
    return table


def one(table: Path, memory: str, k: int) -> None:
    """One run: a line of the table."""
    start = time.perf_counter()
    output = table.parent / "release.parquet"
    release = kohort.anonymize(table, policy(k), output=output, memory=memory, overwrite=True)
    seconds = time.perf_counter() - start
    n = release.verdict.facts.rows_released
    steps = ", ".join(f"{name} {value:.0f}" for name, value in release.provenance.seconds.items())
    print(
        f"| {n:,} | {memory} | {release.facts['partitions'].split(',')[0]} | {release.loss.total:.5f} | {seconds:.0f} "
        f"| {1e6 * seconds / n:.1f} | {peak_memory():.2f} | {release.verdict.facts.smallest_class} | {steps} |",
        flush=True,
    )
    output.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", nargs="*", type=float, default=[1, 5])
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kohort-scale")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one, given.memory, given.k)
        return
    print(
        "| records | memory | parts | GCP | s | us per record | peak GiB | smallest class | seconds of each step |"
        "\n|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    for millions in given.millions:
        table = made(given.folder, millions)
        again = [sys.executable, __file__, "--one", str(table), "--memory", given.memory, "--k", str(given.k)]
        subprocess.run(again, check=True)


if __name__ == "__main__":
    main()
