"""From a file to a verified file: seconds of each step, and peak memory, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tables import EIGHT, adult_policy, census_policy, path, peak_memory

import kohort


def job(name: str, out: str) -> dict:
    """One run, in this process."""
    import polars as pl

    if name == "adult":
        source, policy = path("adult/adult.csv"), adult_policy(EIGHT, 10)
    else:
        source = path("census_income/census_income.parquet")
        policy = census_policy(list(pl.read_parquet_schema(source)), 10)
    start = time.perf_counter()
    release = kohort.anonymize(source, policy, output=out, overwrite=True)
    seconds = time.perf_counter() - start
    peak = peak_memory()
    return {"seconds": seconds, "peak": peak, "gcp": release.loss.total, "steps": release.provenance.seconds}


def main():
    print("| table | verified file | GCP | seconds | peak GiB | seconds of each step |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, out in (("adult", "adult.csv"), ("census", "census.parquet")):
            for _ in range(2):  # the first compiles what is not compiled yet
                command = [sys.executable, __file__, name, str(Path(folder) / out)]
                facts = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            steps = ", ".join(f"{step} {seconds:.2f}" for step, seconds in facts["steps"].items())
            print(f"| {name} | {out} | {facts['gcp']:.4f} | {facts['seconds']:.1f} | {facts['peak']:.2f} | {steps} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(job(*sys.argv[1:])))
    else:
        main()
