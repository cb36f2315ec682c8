"""One million patients from PostgreSQL to PostgreSQL: how long it takes, and how much memory.

Starts a server of its own in a temporary folder. ``python benchmarks/databases.py [ROWS ...]``
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.postgres import server

MEMORY = "1GB"
CODE = """\
import json, resource, sys, time
import kohort
url, rows = sys.argv[1], int(sys.argv[2])
policy = kohort.Policy.build(
    k=10, identifiers=["name"], quasi_identifiers=["birth_date", "sex", "zip_code", "admission_date"],
    sensitive=["diagnosis"], insensitive=["length_of_stay", "cost"], seed=1, algorithm="mondrian",
    hierarchies={"zip_code": {"prefix": [5, 3, 2]}},
).with_changes("algorithm", bound_effort=0.0)
start = time.perf_counter()
release = kohort.anonymize(f"{url}#patients", policy, output=f"{url}#anon", memory=sys.argv[3])
print(json.dumps({
    "rows": release.verdict.facts.rows_released, "loss": release.loss.total,
    "seconds": time.perf_counter() - start, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""


def fill(url: str, rows: int) -> None:
    import adbc_driver_postgresql.dbapi as dbapi

    from kohort.datasets import patients

    with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.executescript("DROP TABLE IF EXISTS patients; DROP TABLE IF EXISTS anon")
        step = 250_000
        for start in range(0, rows, step):
            frame = patients(min(step, rows - start), seed=start + 1)
            columns = ["name", "birth_date", "sex", "zip_code", "admission_date", "diagnosis", "length_of_stay", "cost"]
            mode = "create" if start == 0 else "append"
            cursor.adbc_ingest("patients", frame.select(columns).to_arrow(), mode=mode)


def main() -> None:
    rows = [int(argument) for argument in sys.argv[1:]] or [250_000, 1_000_000]
    print(f"memory limit {MEMORY}\n\n| rows | seconds | peak memory | loss |\n|---|---|---|---|")
    with server() as folder:
        url = f"postgresql:///postgres?host={folder}&user=steward"
        for count in rows:
            fill(url, count)
            done = subprocess.run(
                [sys.executable, "-c", CODE, url, str(count), MEMORY], capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout.splitlines()[-1])
            assert found["rows"] == count
            peak = f"{found['peak_mb']:,.0f} MB"
            print(f"| {count:,} | {found['seconds']:.0f} | {peak} | {found['loss']:.4f} |", flush=True)


if __name__ == "__main__":
    main()
