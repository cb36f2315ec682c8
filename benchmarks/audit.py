"""The audit of a large CSV file beside its original: CPU seconds and peak memory, as the table grows.

The table is the built-in hospital; the release publishes the decade of birth, two digits of the ZIP code and an upper
level of each tree, in the order of the original, as any tool may have made it. Every audit is a process of its own.
`--sources` also measures another version, such as a worktree of an earlier commit, in turns with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PIECE = 1_000_000
"""Records that are made at a time."""
POLICY = """
[privacy]
k = 5
[output]
order = "kept"
suppressed = "starred"
[columns]
name = "identifier"
birth_date = {{ role = "quasi", type = "date" }}
sex = "quasi"
zip_code = {{ role = "quasi", type = "string", hierarchy = {{ prefix = [5, 3, 2] }} }}
education = {{ role = "quasi", hierarchy = {{ tree = {education} }} }}
ethnicity = {{ role = "quasi", hierarchy = {{ tree = {ethnicity} }} }}
admission_date = "insensitive"
length_of_stay = "insensitive"
diagnosis = "sensitive"
cost = "insensitive"
"""
AUDIT = """
import json, resource, sys
from pathlib import Path
import kohort
folder, suffix = Path(sys.argv[1]), sys.argv[2]
verdict = kohort.verify(folder / f"release.{suffix}", folder / "policy.toml", original=folder / f"original.{suffix}")
used = resource.getrusage(resource.RUSAGE_SELF)
[line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
failed = [check.name for check in verdict.checks if not check.passed]
print("\\n" + json.dumps([used.ru_utime + used.ru_stime, int(line.split()[1]) / 2**20, failed]))
"""


def made(folder: Path, millions: float, *, quoted: bool) -> Path:
    """Original, release and policy, made where they are not there yet."""
    table = folder / f"audit-{millions:g}M{'-quoted' if quoted else ''}"
    if table.exists():
        return table
    import kohort

    draft = table.with_suffix(".draft")
    draft.mkdir(parents=True)
    style = "always" if quoted else "necessary"
    rows = round(millions * 1e6)
    with (draft / "original.csv").open("wb") as original, (draft / "release.csv").open("wb") as release:
        for number, first in enumerate(range(0, rows, PIECE)):
            frame = kohort.datasets.patients(min(PIECE, rows - first), seed=number)
            frame.write_csv(original, include_header=not number, quote_style=style)
            recoded(frame).write_csv(release, include_header=not number, quote_style=style)
    trees = kohort.datasets.patients_hierarchies()
    texts = {name: json.dumps(trees[name]).replace('": ', '" = ') for name in ("education", "ethnicity")}
    (draft / "policy.toml").write_text(POLICY.format(**texts))
    draft.rename(table)
    return table


def recoded(frame):
    """What is published of some records."""
    import polars as pl

    import kohort

    trees = kohort.datasets.patients_hierarchies()
    upper = {name: {leaf: top for top, tree in trees[name].items() for leaf in leaves(tree)} for name in trees}
    decade = pl.col("birth_date").dt.year() // 10
    born = pl.format("[{}0-01-01 - {}9-12-31]", decade, decade)
    known = pl.col("zip_code").is_not_null()
    return frame.select(
        birth_date=born,
        sex="sex",
        zip_code=pl.when(known).then(pl.col("zip_code").str.slice(0, 2) + "***").otherwise(pl.lit("*")),
        education=pl.col("education").replace_strict(upper["education"], default="*"),
        ethnicity=pl.lit("*"),
        admission_date="admission_date",
        length_of_stay="length_of_stay",
        diagnosis="diagnosis",
        cost="cost",
    )


def leaves(tree) -> list[str]:
    """The leaves of a nested tree."""
    return list(tree) if isinstance(tree, list) else [leaf for below in tree.values() for leaf in leaves(below)]


def measured(source: Path, table: Path, suffix: str) -> tuple[float, float, list[str]]:
    """CPU seconds, peak memory in GiB and the checks that failed."""
    command = [sys.executable, "-c", AUDIT, str(table), suffix]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(source)}, capture_output=True, check=True)
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", nargs="*", type=float, default=[1, 5])
    parser.add_argument("--sources", nargs="*", type=Path, default=[], help="folders `src` of other versions")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--quoted", action="store_true", help="every cell in quotes")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kohort-scale")
    given = parser.parse_args()
    print(
        "| records | version | CPU s | us per record | peak GiB | failed checks |\n|---|---|---|---|---|---|",
        flush=True,
    )
    for millions in given.millions:
        table = made(given.folder, millions, quoted=given.quoted)
        for _ in range(given.runs):
            for source in (*given.sources, Path(__file__).parents[1] / "src"):
                seconds, peak, failed = measured(source, table, "csv")
                print(
                    f"| {millions * 1e6:,.0f} | {source} | {seconds:.1f} | {seconds / millions:.2f} | {peak:.2f} "
                    f"| {', '.join(failed) or '-'} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
