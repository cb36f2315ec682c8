"""Loss against time: auto, best and fast, beside k-member and the plain loop, on tables of many kinds.

The unit of time is P: one run of the plain O(n^2) k-member loop, compiled, on the same table in the same process on
one core. Every part prints a table; choose parts by name.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from tables import EIGHT, FOUR, NINE, adult_policy, census_policy, path, peak_memory

import kohort
from kohort.algorithms import ALGORITHMS
from kohort.codes.boxes import Solution
from kohort.codes.encode import Codes, encode
from kohort.measures import MEASURES
from kohort.measures.compile import compile_costs
from kohort.measures.loss import loss_of_solution
from kohort.search.effort import refined_solution
from kohort.search.refine import Effort, Search
from kohort.search.task import Task
from kohort.table import typed_quasi_identifiers

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.plain_kmember import dense_tables, plain_kmember

NCP = MEASURES.make("ncp", {})


def on_cores(count: int) -> None:
    """Let this process use so many cores."""
    os.sched_setaffinity(0, set(range(count)))


def encoded(frame: pl.DataFrame, policy: kohort.Policy) -> Codes:
    return encode(typed_quasi_identifiers(frame, policy), policy)


def adult(quasi: list[str]) -> Codes:
    return encoded(kohort.datasets.adult(), adult_policy(quasi, 10))


def census() -> Codes:
    frame = pl.read_parquet(path("census_income/census_income.parquet"))
    return encoded(frame, census_policy(frame.columns, 10))


def task_of(codes: Codes, k: int, seed: int, seconds: float | None = None) -> Task:
    costs = compile_costs(NCP, codes.axes)
    return Task(codes, NCP, costs, k, np.random.default_rng(seed), lambda share: None, seconds=seconds)


def run(name: str, codes: Codes, k: int, seed: int = 1, **more) -> tuple[Solution, float, float]:
    """Solution, loss and wall time."""
    start = time.perf_counter()
    solution = ALGORITHMS.make(name, {}).solve(task_of(codes, k, seed, **more))
    seconds = time.perf_counter() - start
    return solution, loss_of_solution(NCP, codes, solution).total, seconds


def plain_loop(codes: Codes, k: int) -> float:
    """P, in seconds."""
    costs = compile_costs(NCP, codes.axes)
    ordered, tables = codes.array[codes.distinct.order], dense_tables(costs)
    plain_kmember(ordered[:200], tables, k, 0, False)
    start = time.perf_counter()
    plain_kmember(ordered, tables, k, 0, False)
    return time.perf_counter() - start


def spread(values: list[float]) -> str:
    return f"{np.median(values):.5f} | {min(values):.5f} - {max(values):.5f}"


def warm(codes: Codes, k: int) -> None:
    search = Search(codes, compile_costs(NCP, codes.axes), k, np.random.default_rng(0))
    search.refined(search.start, Effort(0.01), lambda share, cost: None)


def targets(name: str, quasi: list[str], cores: int, seeds: int, ks: tuple[int, ...] = (5, 10, 50)) -> None:
    """Loss and time in units of P on Adult."""
    codes = adult(quasi)
    print(f"\n### {name}, Adult, {len(quasi)} QIs, {cores} core(s), {seeds} seeds\n", flush=True)
    print("| k | GCP, median | spread | s, median | P, s | time / P |\n|---|---|---|---|---|---|", flush=True)
    for k in ks:
        on_cores(1)
        unit = plain_loop(codes, k)
        on_cores(cores)
        warm(codes, k)
        runs = [run(name, codes, k, seed) for seed in range(1, seeds + 1)]
        seconds = float(np.median([one[2] for one in runs]))
        print(
            f"| {k} | {spread([one[1] for one in runs])} | {seconds:.2f} | {unit:.2f} | {seconds / unit:.2f} |",
            flush=True,
        )


def points(codes: Codes, k: int) -> Iterator[tuple[int, float, float]]:
    """Length of the search, seconds and loss, for ever longer searches."""
    warm(codes, k)
    for work in (0, 25, 50, 100, 200, 400, 800, 1600, 3200):
        task = task_of(codes, k, 1)
        start = time.perf_counter()
        search = Search(codes, task.costs, k, task.rng)
        labels = search.refined(search.start, Effort(work), lambda share, cost: None) if work else search.start
        seconds = time.perf_counter() - start
        loss = loss_of_solution(NCP, codes, Solution.of_labels(codes, labels)).total
        yield work, seconds, loss


def curve(k: int) -> None:
    """Loss against the length of the search, on one core."""
    codes = adult(EIGHT)
    on_cores(1)
    print(f"\n### Adult, 8 QIs, k = {k}: loss against time, one core\n\n| work | s | GCP |\n|---|---|---|", flush=True)
    for work, seconds, loss in points(codes, k):
        print(f"| {work} | {seconds:.2f} | {loss:.5f} |", flush=True)


def after_every_algorithm(k: int = 10) -> None:
    """What refine makes of the results of all algorithms."""
    frame = kohort.datasets.adult()
    roles = {**dict.fromkeys(EIGHT, "quasi"), "salary-class": "sensitive"}
    policy = kohort.Policy(privacy={"k": k}, columns={name: {"role": role} for name, role in roles.items()})
    sensitive = encode(frame.select("salary-class"), policy, "sensitive")
    codes = adult(EIGHT)
    on_cores(2)
    warm(codes, k)
    print(
        f"\n### refine after every algorithm, Adult, 8 QIs, k = {k}\n\n| algorithm | before | after |\n|---|---|---|",
        flush=True,
    )
    for name, cls in ALGORITHMS.items():
        if cls.anonymity != "classes" or name == "best":
            continue
        task = replace(task_of(codes, k, 1), sensitive=sensitive)
        before = ALGORITHMS.make(name, {}).solve(task)
        after = refined_solution(task, before)
        losses = [loss_of_solution(NCP, codes, solution).total for solution in (before, after)]
        print(f"| {name} | {losses[0]:.4f} | {losses[1]:.4f} |", flush=True)


def other_tables(n: int = 20_000) -> dict[str, tuple[pl.DataFrame, dict[str, object], tuple[int, ...]]]:
    """Tables unlike Adult, of n records: frame, hierarchies, class sizes."""
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(40, 6))
    heaps = centres[rng.integers(0, 40, n)] + rng.normal(scale=0.3, size=(n, 6))
    patients = kohort.datasets.patients(n, seed=3)
    quasi = ["birth_date", "sex", "zip_code", "ethnicity", "education", "length_of_stay"]
    trees = kohort.datasets.patients_hierarchies()
    walk = np.cumsum(rng.integers(-1, 2, size=(n, 20)), axis=1) // 3 + rng.integers(0, 3, (n, 1))
    return {
        "6 continuous columns": (pl.DataFrame(heaps.round(3), schema=[f"x{j}" for j in range(6)]), {}, (2, 10, 500)),
        "20 columns": (pl.DataFrame(walk, schema=[f"c{j}" for j in range(20)]), {}, (2, 10, 500)),
        "1 column": (pl.DataFrame({"pay": rng.lognormal(8, 1, n).round(0)}), {}, (2, 10, 500)),
        "hospital": (
            patients.select(quasi),
            {"zip_code": {"prefix": [5, 3, 2]}, "education": {"tree": trees["education"]}},
            (2, 10, 500),
        ),
        "heavy duplicates": (pl.DataFrame({f"c{j}": rng.binomial(3, 0.2, n) for j in range(5)}), {}, (2, 10, 500)),
        "no duplicates": (
            pl.DataFrame({"a": rng.permutation(n), "b": rng.permutation(n), "c": rng.choice(list("abcdef"), n)}),
            {},
            (2, 10, 500),
        ),
    }


def others() -> None:
    print("\n### Tables unlike Adult, 20,000 records, two cores\n", flush=True)
    print(
        "| table | k | k-member | fast | auto | auto, s | auto below k-member |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    on_cores(2)
    for title, (frame, hierarchies, ks) in other_tables().items():
        policy = kohort.Policy.build(k=2, quasi_identifiers=frame.columns, hierarchies=hierarchies)
        codes = encoded(frame, policy)
        for k in ks:
            warm(codes, k)
            (_, greedy, _), (_, cut, _), (_, best, seconds) = (
                run(name, codes, k) for name in ("k-member", "fast", "auto")
            )
            less = 100 * (1 - best / greedy) if greedy else 0.0
            print(
                f"| {title} | {k} | {greedy:.5f} | {cut:.5f} | {best:.5f} | {seconds:.1f} | {less:.0f} % |", flush=True
            )


def squares(frame: pl.DataFrame, solution: Solution) -> float:
    """Sum of squared distances to the means of the classes, as a share of that to the mean of all; columns scaled."""
    values = frame.to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    labels = np.unique(np.hstack([solution.boxes.lo, solution.boxes.hi]), axis=0, return_inverse=True)[1].reshape(-1)
    means = np.stack([np.bincount(labels, column) / np.bincount(labels) for column in values.T], axis=1)
    return float(((values - means[labels]) ** 2).sum() / (values**2).sum())


def beside_mdav() -> None:
    """Boxes and squares on continuous columns: auto minimizes the one, MDAV the other."""
    frame, _, _ = other_tables()["6 continuous columns"]
    codes = encoded(frame, kohort.Policy.build(k=2, quasi_identifiers=frame.columns))
    print("\n### 6 continuous columns: loss, and within-class sum of squares, beside MDAV (Euclidean)\n", flush=True)
    print("| k | MDAV GCP | auto GCP | MDAV SSE/SST | auto SSE/SST |\n|---|---|---|---|---|", flush=True)
    for k in (3, 10, 50):
        by_mdav = ALGORITHMS.make("mdav", {"distance": "euclidean"}).solve(task_of(codes, k, 1))
        by_auto, loss, _ = run("auto", codes, k)
        print(
            f"| {k} | {loss_of_solution(NCP, codes, by_mdav).total:.5f} | {loss:.5f} "
            f"| {squares(frame, by_mdav):.4f} | {squares(frame, by_auto):.4f} |",
            flush=True,
        )


def large(sizes: tuple[int, ...]) -> None:
    """Time per record on blow-ups of Census-Income: records drawn again, two columns shaken."""
    base = pl.read_parquet(path("census_income/census_income.parquet")).select(NINE)
    print("\n### Census-Income blown up, k = 10, two cores\n", flush=True)
    print(
        "| records | distinct | fast GCP | fast, s | auto GCP | auto, s | us per record | peak GiB |"
        "\n|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    for n in sizes:
        rng = np.random.default_rng(n)
        frame = base if n == base.height else base[rng.integers(0, base.height, n)]
        if n != base.height:
            age = np.clip(frame["age"].to_numpy() + rng.integers(-3, 4, n), 0, 90)
            shuffled = frame["education"].gather(rng.permutation(n))
            keep = pl.Series(rng.random(n) < 0.9)
            frame = frame.with_columns(age=pl.Series(age), education=frame["education"].zip_with(keep, shuffled))
        policy = kohort.Policy.build(k=10, quasi_identifiers=NINE)
        # In a process of its own: the memory of the search, and not of the table's making, is what counts.
        with tempfile.NamedTemporaryFile() as file:
            pickle.dump(encoded(frame, policy), file)
            file.flush()
            subprocess.run([sys.executable, __file__, "--codes", file.name], check=True)


def one_large(path: str) -> None:
    """Fast and auto on codes that another process has made."""
    with Path(path).open("rb") as file:
        codes: Codes = pickle.load(file)
    n = len(codes.array)
    on_cores(2)
    some = Codes(codes.array[:1000], codes.axes)
    warm(some, 10)
    run("fast", some, 10)
    # Only what is to be told is kept: a solution is as large as the table.
    cut, seconds_of_cut = run("fast", codes, 10)[1:]
    loss, seconds = run("auto", codes, 10)[1:]
    print(
        f"| {n:,} | {len(codes.distinct.codes):,} | {cut:.5f} | {seconds_of_cut:.1f} | {loss:.5f} | {seconds:.1f} "
        f"| {1e6 * seconds / n:.1f} | {peak_memory():.2f} |",
        flush=True,
    )


PARTS = {
    "auto": lambda seeds: targets("auto", EIGHT, 1, seeds),
    "four": lambda seeds: targets("auto", FOUR, 1, seeds),
    "best": lambda seeds: targets("best", EIGHT, 2, seeds),
    "curve": lambda seeds: [curve(k) for k in (5, 10, 50)],
    "refine": lambda seeds: after_every_algorithm(),
    "others": lambda seeds: (others(), beside_mdav()),
    "census": lambda seeds: large((299_285,)),
    "large": lambda seeds: large((299_285, 1_000_000, 2_000_000, 5_000_000)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["auto", "four", "others", "census"], help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=5, help="runs with seeds 1, 2, ...")
    parser.add_argument("--codes", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.codes:
        one_large(given.codes)
        return
    for part in given.parts:
        PARTS[part](given.seeds)


if __name__ == "__main__":
    main()
