"""What is lost at the borders of parts: the loss of runs in 4 and 16 parts beside that of one in memory."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl
from quality import other_tables
from tables import EIGHT, adult_policy, census_policy, path

import kohort

PARTS = (4, 16)


def tables() -> dict[str, tuple[pl.DataFrame, kohort.Policy]]:
    census = pl.read_parquet(path("census_income/census_income.parquet"))
    found = {
        "Adult": (kohort.datasets.adult(), adult_policy(EIGHT, 10)),
        "Census-Income": (census, census_policy(census.columns, 10)),
    }
    for name, (frame, hierarchies, _) in other_tables().items():
        policy = kohort.Policy.build(k=10, quasi_identifiers=frame.columns, hierarchies=hierarchies, seed=1)
        found[name] = (frame, policy)
    return found


def main() -> None:
    heads = "".join(f" | {parts} parts" for parts in PARTS)
    print(f"| table | records | in memory{heads} |\n" + "|---" * (3 + len(PARTS)) + "|", flush=True)
    for name, (frame, policy) in tables().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        policy = policy.with_changes("algorithm", bound_effort=0.0)
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "in.parquet"
            frame.write_parquet(table)
            whole = kohort.anonymize(table, policy, output=Path(folder) / "out.parquet").loss.total
            cells = []
            for parts in PARTS:
                release = kohort.anonymize(
                    table, policy, output=Path(folder) / "out.parquet", memory="4GB", partitions=parts
                )
                cells.append(f"{release.loss.total / whole - 1:+.1%}")
        print(f"| {name} | {frame.height:,} | {whole:.5f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
