"""What is lost at the borders of partitions, and what is gained in time: runs in partitions beside one at once.

All runs are in memory; those with --memory publish the same rows. Give names of tables to choose some, and a number of
records for the tables that are made up.
"""

from __future__ import annotations

import argparse
import time

import polars as pl
from quality import other_tables
from tables import EIGHT, adult_policy, census_policy, path

import kohort

PARTS = (4, 16)


def tables(records: int) -> dict[str, tuple[pl.DataFrame, kohort.Policy]]:
    census = pl.read_parquet(path("census_income/census_income.parquet"))
    found = {
        "Adult": (kohort.datasets.adult(), adult_policy(EIGHT, 10)),
        "Census-Income": (census, census_policy(census.columns, 10)),
    }
    for name, (frame, hierarchies, _) in other_tables(records).items():
        policy = kohort.Policy.build(k=10, quasi_identifiers=frame.columns, hierarchies=hierarchies, seed=1)
        found[name] = (frame, policy)
    return found


def run(frame: pl.DataFrame, policy: kohort.Policy, partitions: int) -> tuple[float, float, float]:
    """Loss, seconds and processor seconds of clustering, with finding the cuts."""
    spent = time.process_time()
    release = kohort.anonymize(frame, policy, partitions=partitions)
    spent = time.process_time() - spent
    seconds = release.provenance.seconds
    return release.loss.total, seconds.get("divide", 0.0) + seconds["cluster"], spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--partitions", type=int, nargs="*", default=PARTS)
    given = parser.parse_args()
    heads = "".join(f" | {parts} partitions" for parts in given.partitions)
    print("Loss; seconds of clustering; processor seconds of the whole run.\n")
    print(f"| table | records | at once{heads} |\n" + "|---" * (3 + len(given.partitions)) + "|", flush=True)
    for name, (frame, policy) in tables(given.records).items():
        if given.names and name not in given.names:
            continue
        policy = policy.with_changes("algorithm", bound_effort=0.0)
        run(frame[:1000], policy, 1)  # so that all is compiled
        whole, *times = run(frame, policy, 1)
        cells = [f"{whole:.5f}; {times[0]:.1f}; {times[1]:.1f}"]
        for parts in given.partitions:
            loss, *times = run(frame, policy, parts)
            cells.append(f"{loss / whole - 1:+.1%}; {times[0]:.1f}; {times[1]:.1f}")
        print(f"| {name} | {frame.height:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
