"""The audit of a large release beside its original: CPU seconds, clock and peak memory, as the table grows.

The table is the built-in hospital. A release of `levels` publishes the decade of birth, two digits of the ZIP code and
an upper level of each tree, with the records of small classes starred; one of `boxes` publishes intervals of numbers
and dates that ten records share, so that hardly two texts are alike; `notes` is `levels` with a text beside each record
that holds delimiters, quotes and line ends. All of it as any tool may have made it; every audit is a process of its
own. `--sources` also measures other versions, such as a worktree of an earlier commit, in turns with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

import kohort

PIECE = 1_000_000
"""Records that are made at a time."""
K = 5
TABLES = ("levels", "boxes", "notes")
ORDERS = ("kept", "given", "unknown", "alone")
"""Rows as in the original; shuffled, with a file of their original rows; without one; without the original."""
NUMBERS = {"birth_date": "date", "admission_date": "date", "length_of_stay": "integer", "cost": "number"}
AUDIT = """
import json, resource, sys
from pathlib import Path
import kohort
folder, suffix, order, memory = Path(sys.argv[1]), *sys.argv[2:]
shuffled = "" if order == "kept" else "-shuffled"
given = {} if order == "alone" else {"original": folder / f"original.{suffix}"}
given |= {"row_order": folder / "order.parquet"} if order == "given" else {}
given |= {"memory": int(float(memory) * 2**30)} if memory else {}
verdict = kohort.verify(folder / f"release{shuffled}.{suffix}", folder / f"policy{shuffled}.toml", **given)
used = resource.getrusage(resource.RUSAGE_SELF)
[line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
failed = [check.name for check in verdict.checks if not check.passed]
print("\\n" + json.dumps([used.ru_utime + used.ru_stime, int(line.split()[1]) / 2**20, failed]))
"""


def policy(table: str, *, shuffled: bool) -> kohort.Policy:
    """What the release promises."""
    trees = kohort.datasets.patients_hierarchies()
    boxed = NUMBERS if table == "boxes" else {"birth_date": "date"}
    quasi = {name: {"role": "quasi", "type": kind} for name, kind in boxed.items()}
    quasi["sex"] = {"role": "quasi"}
    quasi |= {name: {"role": "quasi", "hierarchy": {"tree": trees[name]}} for name in ("education", "ethnicity")}
    quasi["zip_code"] = {"role": "quasi", "type": "string", "hierarchy": {"prefix": [5, 3, 2]}}
    others = [name for name in NUMBERS if name not in quasi] + ["note"] * (table == "notes")
    return kohort.Policy.model_validate(
        {
            "privacy": {"k": K, "suppression_limit": 0.2},
            "output": {"order": "shuffled" if shuffled else "kept", "suppressed": "starred"},
            "columns": {"name": {"role": "identifier"}, "diagnosis": {"role": "sensitive"}}
            | quasi
            | {name: {"role": "insensitive"} for name in others},
        }
    )


def made(folder: Path, table: str, millions: float, *, quoted: bool, suffix: str) -> Path:
    """Original, releases, order and policies, made where they are not there yet."""
    place = folder / f"audit-{table}-{millions:g}M{'-quoted' if quoted else ''}-{suffix}"
    if place.exists():
        return place
    draft = place.with_suffix(".draft")
    draft.mkdir(parents=True)
    style = "always" if quoted else "necessary"
    order = []
    for number, (first, *frames) in enumerate(pieces(table, round(millions * 1e6))):
        order.append(pl.int_range(first, first + frames[0].height, eager=True).shuffle(seed=number))
        frames.append(frames[1][order[-1] - first])
        for name, frame in zip(("original", "release", "release-shuffled"), frames, strict=True):
            if suffix == "parquet":
                (draft / f"{name}.parquet").mkdir(exist_ok=True)
                frame.write_parquet(draft / f"{name}.parquet" / f"{number:03}.parquet")
            else:
                with (draft / f"{name}.csv").open("ab") as file:
                    frame.write_csv(file, include_header=not number, quote_style=style)
    pl.concat(order).to_frame().write_parquet(draft / "order.parquet")
    for shuffled in ("", "-shuffled"):
        text = policy(table, shuffled=bool(shuffled)).to_toml()
        (draft / f"policy{shuffled}.toml").write_text(text)
    draft.rename(place)
    return place


def pieces(table: str, rows: int) -> Iterator[tuple[int, pl.DataFrame, pl.DataFrame]]:
    """Some records after the other and what is published of them, with the number of the first."""
    for number, first in enumerate(range(0, rows, PIECE)):
        frame = kohort.datasets.patients(min(PIECE, rows - first), seed=number)
        if table == "notes":
            frame = frame.with_columns(
                note=pl.format('Seen on {}, "{}";\n{} days, or so.', "admission_date", "diagnosis", "length_of_stay")
            )
        published = boxes(frame) if table == "boxes" else levels(frame)
        yield first, frame, published.drop("name")


def levels(frame: pl.DataFrame) -> pl.DataFrame:
    """Decades, prefixes and upper levels; records in classes of fewer than k are starred."""
    trees = kohort.datasets.patients_hierarchies()
    upper = {name: {leaf: top for top, tree in trees[name].items() for leaf in leaves(tree)} for name in trees}
    decade = pl.col("birth_date").dt.year() // 10
    known = pl.col("zip_code").is_not_null()
    quasi: dict[str, Any] = {
        "birth_date": pl.format("[{}0-01-01 - {}9-12-31]", decade, decade),
        "sex": pl.col("sex"),
        "zip_code": pl.when(known).then(pl.col("zip_code").str.slice(0, 2) + "***").otherwise(pl.lit("*")),
        "education": pl.col("education").replace_strict(upper["education"], default="*"),
        "ethnicity": pl.lit("*"),
    }
    found = frame.with_columns(**quasi)
    is_small = pl.len().over(list(quasi)) < K
    return found.with_columns(pl.when(is_small).then(pl.lit("*")).otherwise(pl.col(name)).alias(name) for name in quasi)


def boxes(frame: pl.DataFrame) -> pl.DataFrame:
    """Intervals of ten records whose births are near each other; labels that they do not share are starred."""
    group = pl.col("birth_date").rank("ordinal").sub(1).floordiv(10).clip(0, frame.height // 10 - 1)
    found = {}
    for name in frame.columns:
        low, high = (end.over(group) for end in (pl.col(name).min(), pl.col(name).max()))
        is_known = pl.col(name).is_not_null().all().over(group)
        if name in NUMBERS:
            text = pl.when(low == high).then(low.cast(pl.String)).otherwise(pl.format("[{} - {}]", low, high))
        else:
            text = pl.when(low == high).then(low).otherwise(pl.lit("*"))
        found[name] = pl.when(is_known).then(text).otherwise(pl.lit("*"))
    return frame.with_columns(**found | {"diagnosis": pl.col("diagnosis")})


def leaves(tree: Any) -> list[str]:
    """The leaves of a nested tree."""
    return list(tree) if isinstance(tree, list) else [leaf for below in tree.values() for leaf in leaves(below)]


def measured(source: Path, place: Path, *given: str) -> tuple[float, float, float, list[str]]:
    """CPU seconds, seconds, peak memory in GiB and the checks that failed."""
    command = [sys.executable, "-c", AUDIT, str(place), *given]
    start = time.perf_counter()
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(source)}, capture_output=True, check=True)
    clock = time.perf_counter() - start
    cpu, peak, failed = json.loads(done.stdout.splitlines()[-1])
    return cpu, clock, peak, failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", nargs="*", type=float, default=[1, 5])
    parser.add_argument("--sources", nargs="*", type=Path, default=[], help="folders `src` of other versions")
    parser.add_argument("--runs", type=int, default=1, help="the median of as many is shown")
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=["levels"])
    parser.add_argument("--orders", nargs="*", choices=ORDERS, default=["kept"])
    parser.add_argument("--memory", nargs="*", default=[""], help="GiB; an empty one for no limit")
    parser.add_argument("--quoted", action="store_true", help="every cell in quotes")
    parser.add_argument("--suffix", choices=["csv", "parquet"], default="csv")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kohort-scale")
    given = parser.parse_args()
    print(
        "| table | records | order | memory | version | CPU s | s | peak GiB | failed checks |\n"
        "|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    sources = [*given.sources, Path(__file__).parents[1] / "src"]
    for table, millions in product(given.tables, given.millions):
        place = made(given.folder, table, millions, quoted=given.quoted, suffix=given.suffix)
        for order, memory in product(given.orders, given.memory):
            runs = [
                [measured(source, place, given.suffix, order, memory) for source in sources] for _ in range(given.runs)
            ]
            for source, found in zip(sources, zip(*runs, strict=True), strict=True):
                cpu, clock, peak = (median(run[figure] for run in found) for figure in range(3))
                failed = ", ".join(found[0][3]) or "-"
                print(
                    f"| {table} | {millions * 1e6:,.0f} | {order} | {memory or '-'} | {source} | {cpu:.1f} "
                    f"| {clock:.1f} | {peak:.2f} | {failed} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
