"""What promises about sensitive values cost: loss and time with and without them, and of search beside repair.

    python benchmarks/models.py                     # all parts
    python benchmarks/models.py adult --seeds 5
    python benchmarks/models.py weights --records 30000
    python benchmarks/models.py census --records 299285 --seeds 1   # all of them

Seconds are CPU seconds of a whole run, with the check of the written file, so that other work on the machine counts
little. Every release is verified.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import polars as pl
from tables import EIGHT, adult_policy, census_policy, path

import kohort

K = 10
SALARY = [
    {"model": "distinct-l-diversity", "column": "salary-class", "l": 2},
    {"model": "t-closeness", "column": "salary-class", "t": 0.2},
]
TREES = {
    "major_occupation": {
        "none": ["Not in universe"],
        "office": {
            "leading": ["Executive admin and managerial", "Professional specialty"],
            "supporting": [
                "Adm support including clerical", "Sales", "Technicians and related support",
            ],
        },
        "hands": {
            "service": ["Other service", "Private household services", "Protective services", "Armed Forces"],
            "production": [
                "Precision production craft & repair", "Machine operators assmblrs & inspctrs",
                "Handlers equip cleaners etc", "Transportation and material moving", "Farming forestry and fishing",
            ],
        },
    },
    "household_summary": {
        "couple": ["Householder", "Spouse of householder"],
        "child": ["Child under 18 never married", "Child under 18 ever married", "Child 18 or older"],
        "other": [
            "Other relative of householder", "Nonrelative of householder", "Group Quarters- Secondary individual",
        ],
    },
}  # fmt: skip
"""Census-Income has no hierarchies of its own; these are made for the benchmark."""
SENSITIVE = ["weeks_worked", *TREES]
DIVERSE = ["instance_weight", "household_family_status", "detailed_industry"]
"""Not what anybody would call sensitive; but hardly two records are alike in all of them."""
EPSILON, DELTA = 0.1, 0.3
DISSIMILAR = [{"model": "dissimilarity-plus", "columns": SENSITIVE, "epsilon": EPSILON, "delta": DELTA}]
WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def adult() -> tuple[pl.DataFrame, kohort.Policy]:
    """Eight quasi-identifiers; the salary is sensitive."""
    policy = adult_policy(EIGHT, K).with_changes("columns", **{"salary-class": {"role": "sensitive"}})
    return kohort.datasets.adult(), policy


def census(
    records: int, *, working: bool = False, sensitive: list[str] = SENSITIVE
) -> tuple[pl.DataFrame, kohort.Policy]:
    """Nine quasi-identifiers; three columns are sensitive."""
    frame = pl.read_parquet(path("census_income/census_income.parquet"))
    if working:
        frame = frame.filter(pl.col("major_occupation") != "Not in universe")
    columns: dict[str, dict[str, Any]] = {name: {"role": "sensitive"} for name in sensitive}
    for name in TREES.keys() & columns.keys():
        columns[name]["hierarchy"] = {"tree": TREES[name]}
    policy = census_policy(frame.columns, K).with_changes("columns", **columns)
    return frame.sample(records, seed=1), policy


def run(
    frame: pl.DataFrame, policy: kohort.Policy, seed: int, name: str, models: list[dict[str, Any]], **parameters: Any
) -> tuple[kohort.Release, float]:
    """A release and its CPU seconds."""
    policy = policy.with_changes("algorithm", name=name, seed=seed, bound_effort=0.0, parameters=parameters)
    start = time.process_time()
    release = kohort.anonymize(frame, policy.with_changes("privacy", models=models))
    return release, time.process_time() - start


def spread(values: list[float]) -> str:
    return f"{np.median(values):.4f} | {min(values):.4f} - {max(values):.4f}"


def search_and_repair(seeds: int) -> None:
    """Adult with 2-diversity and 0.2-closeness of the salary."""
    frame, policy = adult()
    print(f"\n### Adult, 8 QIs, k = {K}, salary 2-diverse and 0.2-close, {seeds} seeds\n", flush=True)
    print("| promises | algorithm | GCP, median | spread | CPU s, median |\n|---|---|---|---|---|", flush=True)
    for what, models, name in (
        ("k alone", [], "auto"),
        ("all, by search", SALARY, "auto"),
        ("all, by repair", SALARY, "fast"),
        ("all, by repair", SALARY, "k-member"),
    ):
        run(frame.head(1000), policy, 1, name, models)  # loads or compiles the kernels
        runs = [run(frame, policy, seed, name, models) for seed in range(1, seeds + 1)]
        seconds = np.median([one[1] for one in runs])
        print(f"| {what} | {name} | {spread([one[0].loss.total for one in runs])} | {seconds:.1f} |", flush=True)


def dissimilar(seeds: int, records: int) -> None:
    """Census-Income with (epsilon+, delta)^k-dissimilarity of three columns."""
    frame, policy = census(records)
    print(
        f"\n### Census-Income, {records:,} records, 9 QIs, k = {K}, dissimilarity-plus of {', '.join(SENSITIVE)}, "
        f"epsilon = {EPSILON}, delta = {DELTA}, {seeds} seeds\n",
        flush=True,
    )
    print(
        "| promises | algorithm | GCP, median | spread | CPU s | delta reached | mean eps_MIN | mean eps_AVG |"
        "\n|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    for what, models, name in (
        ("k alone", [], "auto"),
        ("all, by search", DISSIMILAR, "auto"),
        ("all, by repair", DISSIMILAR, "fast"),
        ("all, by repair", DISSIMILAR, "pac"),
    ):
        run(frame.head(2000), policy, 1, name, models)  # loads or compiles the kernels
        runs = [run(frame, policy, seed, name, models) for seed in range(1, seeds + 1)]
        figures = [kohort.describe(release.table, frame, policy)["epsilon"] for release, _ in runs]
        seconds = np.median([one[1] for one in runs])
        reached = " | ".join(
            f"{np.median([one[key] for one in figures]):.3f}" for key in ("delta", "mean_eps_min", "mean_eps_avg")
        )
        losses = spread([one[0].loss.total for one in runs])
        print(f"| {what} | {name} | {losses} | {seconds:.1f} | {reached} |", flush=True)


def weights(seeds: int, records: int) -> None:
    """The trend of figure 4 of paper 003: pac with a growing weight of the sensitive columns."""
    for title, (frame, policy) in {
        "all": census(records),
        "those who work": census(records, working=True),
        "those who work, hardly two alike": census(records, working=True, sensitive=DIVERSE),
    }.items():
        print(f"\n### pac, Census-Income ({title}), {records:,} records, k = {K}, means of {seeds} seeds\n", flush=True)
        print("| weight | GCP | mean eps_MIN | mean eps_AVG |\n|---|---|---|---|", flush=True)
        for weight in WEIGHTS:
            found = []
            for seed in range(1, seeds + 1):
                release, _ = run(frame, policy, seed, "pac", [], sensitive_weight=weight)
                figures = kohort.describe(release.table, frame, policy)["epsilon"]
                found.append((release.loss.total, figures["mean_eps_min"], figures["mean_eps_avg"]))
            loss, smallest, mean = np.mean(found, axis=0)
            print(f"| {weight} | {loss:.4f} | {smallest:.4f} | {mean:.4f} |", flush=True)


PARTS = {
    "adult": lambda given: search_and_repair(given.seeds),
    "census": lambda given: dissimilar(given.seeds, given.records),
    "weights": lambda given: weights(given.seeds, given.records),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[*PARTS], help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=3, help="runs with seeds 1, 2, ...")
    parser.add_argument("--records", type=int, default=20_000, help="sample of Census-Income")
    given = parser.parse_args()
    for part in given.parts:
        PARTS[part](given)


if __name__ == "__main__":
    main()
