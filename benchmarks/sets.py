"""Tables of sets: seconds of every step and peak memory, from the file that is read to the verified one.

Baskets are drawn with popularities that fall as 1 / rank, and items that stand together are often bought together; the
tree has ten items under each node and ten nodes under each of these. Every run is a process of its own, with its
kernels compiled before. Give runs as ROWSxM or ROWSxMxlocal, or `adult`: the eight quasi-identifiers of Adult with
baskets, (10, 10^2).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tables import EIGHT, adult_policy, peak_memory

import kohort

ITEMS, MEAN, K = 1000, 8, 10
RUNS = [*(f"{rows}x2" for rows in (62_500, 125_000, 250_000, 500_000, 1_000_000)), "500000x1", "500000x3", "adult"]


def baskets(rows: int, items: int, mean: float, seed: int = 1) -> pl.Series:
    """Sets of items as texts."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, items + 1)
    rank = rng.permutation(items)
    # about a fifth of what is drawn is drawn twice
    sizes = np.maximum(1, rng.poisson(mean * 1.2, rows))
    drawn = rank[rng.choice(items, sizes.sum(), p=chance / chance.sum())]
    again = np.flatnonzero(rng.random(len(drawn) - 1) < 0.3) + 1
    drawn[again] = (drawn[again - 1] // 10) * 10 + rng.integers(0, 10, len(again))
    frame = pl.DataFrame({"row": np.repeat(np.arange(rows), sizes), "item": drawn}).unique().sort("row", "item")
    texts = frame.with_columns(pl.format("i{}", "item")).group_by("row", maintain_order=True).agg("item")["item"]
    return texts.list.join(";").alias("basket")


def tree(items: int, widths: tuple[int, ...] = (10, 100)) -> dict[str, Any]:
    """A tree over the items: nodes of so many items at each level, from below."""
    nodes: dict[int, Any] = {item: f"i{item}" for item in range(items)}
    for level, width in enumerate(widths):
        below = widths[level - 1] if level else 1
        nodes = {
            first: {
                f"level {level} from i{first}": [nodes[at] for at in range(first, min(first + width, items), below)]
            }
            for first in range(0, items, width)
        }
    return {"all": list(nodes.values())}


def policy_of(rows: int, m: int, recoding: str, items: int) -> kohort.Policy:
    """k^m-anonymity of baskets alone."""
    model = {"model": "k-m-anonymity", "column": "basket", "m": m, "recoding": recoding}
    return kohort.Policy.build(
        k=K,
        quasi_identifiers=["basket"],
        types={"basket": "set"},
        columns={"basket": {"separator": ";"}},
        hierarchies={"basket": {"tree": tree(items)}},
        models=[model],
        seed=1,
    )


def adult_case(items: int = 100) -> tuple[pl.DataFrame, kohort.Policy]:
    """Adult with four purchases on average."""
    frame = kohort.datasets.adult()
    policy = adult_policy(EIGHT, K)
    frame = frame.select(name for name in frame.columns if name in policy.columns)
    frame = frame.with_columns(baskets(frame.height, items, 4))
    data = policy.to_dict()
    data["columns"]["basket"] = {"role": "quasi", "type": "set", "separator": ";"}
    # sets count as much as all other columns together
    data["columns"]["basket"] |= {"weight": float(len(EIGHT)), "hierarchy": {"tree": tree(items, (2, 6, 24))}}
    data["privacy"]["models"] = [{"model": "k-m-anonymity", "column": "basket", "m": 2}]
    return frame, kohort.Policy.from_dict(data).with_changes("algorithm", seed=1, bound_effort=0.0)


def one(run: str) -> None:
    """One run: a line of the table."""
    if run == "adult":
        frame, policy = adult_case()
        m = "2"
    else:
        rows, m, recoding = [*run.split("x"), "global"][:3]
        frame = pl.DataFrame({"basket": baskets(int(rows), ITEMS, MEAN)})
        policy = policy_of(int(rows), int(m), recoding, ITEMS)
    warm = frame.head(400)
    kohort.anonymize(warm, policy)
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "in.csv"
        frame.write_csv(source)
        mean = frame["basket"].str.split(";").list.len().mean()
        del frame
        begun, spent = time.perf_counter(), time.process_time()
        release = kohort.anonymize(source, policy, output=Path(name) / "out.csv")
        seconds, spent = time.perf_counter() - begun, time.process_time() - spent
    facts, loss = release.facts["sets"], release.loss.by_column
    others = [value for column, value in loss.items() if column != "basket"]
    elsewhere = f"{np.mean(others):.4f}" if others else "-"
    print(f"| {run} | {release.verdict.facts.rows_released:,} | {mean:.1f} | {m} | {seconds:.1f} | {spent:.1f} "
          f"| {release.provenance.seconds['verify']:.1f} | {peak_memory():.2f} | {facts['classes']:,} | {elsewhere} "
          f"| {loss['basket']:.4f} | {facts['ncp']:.4f} | {release.verdict.passed} |", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", default=RUNS)
    parser.add_argument("--one", action="store_true")
    given = parser.parse_args()
    if given.one:
        one(given.runs[0])
        return
    print(
        "| run | rows | items | m | s | CPU s | checking, s | peak GiB | classes | other columns | basket | NCP "
        "| passed |"
        "\n|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    for run in given.runs:
        subprocess.run([sys.executable, __file__, run, "--one"], check=True)


if __name__ == "__main__":
    main()
