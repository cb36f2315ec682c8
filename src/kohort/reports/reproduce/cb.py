"""He et al.: Clustering-based k-anonymity, PAKDD 2012 (paper 002), section 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from typing_extensions import override

from kohort.datasets import adult, adult_hierarchies
from kohort.policy import Policy
from kohort.reports.reproduce.base import PAPERS, Axes, Claim, Outcome, Paper, Run, Verdict, known, ratios, spelled
from kohort.reports.reproduce.run import of_comparison

CB, CENTRES, NH = "cb", "cb:assign=centre", "nh"
COLUMNS = {
    "SAL": {"Age": 78, "Gender": 2, "Education": 17, "Marital": 6, "Race": 9, "Workclass": 10, "Country": 83},
    "INC": {"Age": 78, "Occupation": 711, "Birthplace": 983, "Gender": 2, "Education": 17, "Race": 9},
}
PEOPLE = ("age", "sex", "education", "marital-status", "race", "workclass")
"""Columns of Adult in the order of SAL."""
CHOSEN = 10_000
"""Records of Adult on which the default of `assign` was chosen; they take no part here."""
"""The first quasi-identifiers of both tables, with their numbers of values (table 3)."""
SKEW = {"Race": 6.0, "Country": 8.0, "Birthplace": 5.0, "Workclass": 3.0}
"""How rare the last values are beside the first; 1 for a column that is even."""


@PAPERS.register("cb")
@dataclass(frozen=True)
class ClusteringBasedPaper(Paper):
    """CB against NH over k, d and n, on Adult and on made-up tables with the cardinalities of SAL and INCOME."""

    title: ClassVar[str] = "Reproduced: clustering-based k-anonymity (He et al., 2012; paper 002)"
    figures: ClassVar[dict[str, str]] = {
        "loss": "GCP, the measure `ncp`; SAL and INC are made up, with the cardinalities of the paper's tables",
        "seconds": "Seconds of clustering",
    }

    @override
    def case(self, run: Run) -> tuple[pl.DataFrame, Policy]:
        kind, _, d = run.table.partition("-")
        if kind == "ADULT":
            return others(PEOPLE[: int(d)], run.records, run.seed)
        frame = census(kind, int(d), run.records, run.seed)
        return frame, Policy.build(k=2, quasi_identifiers=frame.columns)

    @override
    def measured(self, run: Run, frame: pl.DataFrame, policy: Policy) -> dict[str, float]:
        return of_comparison(run, frame, policy)

    @override
    def claims(self, *, quick: bool) -> tuple[Claim, ...]:
        n = 10_000 if quick else 100_000
        ks = (50, 250) if quick else (50, 100, 150, 200, 250)
        sizes = (5_000, 20_000) if quick else (100_000, 200_000, 300_000, 400_000, 500_000)
        seeds = range(1, 3 if quick else 4)
        three = CB, CENTRES, NH
        tables = {"ADULT": 10_000 if quick else 20_000} | dict.fromkeys(COLUMNS, n)
        over_k = {
            d: tuple(
                Run(f"{kind}-{d}", size, name, k, seed)
                for kind, size in tables.items()
                for k in ks
                for name in three
                for seed in seeds
            )
            for d in (3, 4, 5, 6)
        }
        over_n = tuple(
            Run(f"{kind}-6", size, name, 50, seed)
            for kind in COLUMNS
            for size in sizes
            for name in (CB, NH)
            for seed in seeds
        )
        return _claims(over_k[3], over_k[4] + over_k[5] + over_k[6], over_n)


def _claims(three: tuple[Run, ...], more: tuple[Run, ...], over_n: tuple[Run, ...]) -> tuple[Claim, ...]:
    return (
        Claim(
            "four-and-more",
            "Figures 6 (c) to (h) and 7",
            "with four to six quasi-identifiers CB loses less than NH, on both tables and for k = 50 to 250.",
            _below,
            more,
            Axes("k", "loss"),
        ),
        Claim(
            "three",
            "Figures 6 (a) and (b)",
            "with three quasi-identifiers NH loses less on SAL, and CB on INCOME.",
            _three,
            three,
            Axes("k", "loss"),
        ),
        Claim("growth-with-k", "Section 6.1", "loss grows with k.", lambda results: _monotone(results, "k", 1), more),
        Claim(
            "loss-and-size",
            "Figure 8",
            "loss falls with the number of records, and that of CB is below that of NH.",
            lambda results: _monotone(results, "records", -1),
            over_n,
            Axes("records", "loss"),
        ),
        Claim(
            "speed-and-size",
            "Figure 9",
            "the time of both grows linearly with the number of records, and CB takes longer.",
            _slower,
            over_n,
            Axes("records", "seconds"),
        ),
        Claim(
            "example",
            "Tables 1 and 2",
            "the seven records become {Andy, Bob}, {Jane, Alex} and {Mary, Lily, Lucy}.",
            known("reproduced", "Whatever the seed; it is the only optimum (tests/golden/test_cb_clusters.py)."),
        ),
        Claim(
            "figure-5",
            "Figure 5, line 1",
            "there is no l-diverse partition if a value has |T| / l records or more.",
            known("erratum", "By theorem 3, exactly |T| / l is possible (tests/golden/test_cb_l_diversity.py)."),
        ),
    )


def others(quasi: tuple[str, ...], records: int, seed: int) -> tuple[pl.DataFrame, Policy]:
    """Records of Adult that were not used to choose the default of `assign`."""
    people = adult(quasi).with_row_index("number")
    rest = people.join(people.sample(CHOSEN, seed=0, shuffle=True), on="number", how="anti").drop("number")
    trees = {name: str(file) for name, file in adult_hierarchies().items() if name in quasi and name != "age"}
    return rest.sample(records, seed=seed, shuffle=True), Policy.build(k=2, quasi_identifiers=quasi, hierarchies=trees)


def census(kind: str, d: int, records: int, seed: int) -> pl.DataFrame:
    """People of a made-up census: each column a mixture of where somebody stands in life and of chance."""
    rng = np.random.default_rng(seed)
    station = rng.random(records)
    columns = {}
    for number, (name, values) in enumerate(list(COLUMNS[kind].items())[:d]):
        share = np.where(rng.random(records) < 0.5, (station * (number + 1)) % 1.0, rng.random(records))
        columns[name] = np.minimum(share ** SKEW.get(name, 1.0) * values, values - 1).astype(int)
    return pl.DataFrame(columns)


# -- verdicts --------------------------------------------------------------------------------------


def _cells(results: pl.DataFrame, name: str) -> dict[tuple[str, int], float]:
    """Loss of one algorithm over that of NH, for each table and k."""
    return {
        (table, k): ratio
        for (table,), some in results.group_by("table")
        for k, ratio in ratios(some, "loss", name, NH, "k").items()
    }


def _below(results: pl.DataFrame) -> Verdict:
    found, centres = _cells(results, CB), _cells(results, CENTRES)
    real, made = (
        {cell: r for cell, r in found.items() if cell[0].startswith("ADULT") == is_real} for is_real in (1, 0)
    )
    below = sum(ratio < 1 for ratio in found.values())
    why = f"CB, by growth, loses {spelled(real)} what NH does on Adult and {spelled(made)} on the made-up tables: "
    why += f"less in {below} of {len(found)} cells. With centres, in {sum(r < 1 for r in centres.values())} of them."
    outcome: Outcome = "trend only" if 2 * below > len(found) else "not reproduced"
    return Verdict("reproduced" if below == len(found) else outcome, why)


def _three(results: pl.DataFrame) -> Verdict:
    found = _cells(results, CB)
    sal, income = ({k: r for (table, k), r in found.items() if table == f"{kind}-3"} for kind in COLUMNS)
    why = f"CB loses {spelled(sal)} what NH does on SAL, and {spelled(income)} on INCOME."
    good = [min(sal.values()) > 1, max(income.values()) < 1]
    return Verdict("reproduced" if all(good) else "trend only" if any(good) else "not reproduced", why)


def _monotone(results: pl.DataFrame, by: str, sign: int) -> Verdict:
    means = results.group_by("table", "algorithm", by).agg(pl.col("loss").mean()).sort(by)
    steps = [
        bool((sign * some["loss"].diff().drop_nulls() > 0).all())
        for _, some in means.filter(pl.col("algorithm") != CENTRES).group_by("table", "algorithm")
    ]
    word = "grows" if sign > 0 else "falls"
    why = f"It {word} in {sum(steps)} of {len(steps)} series, of CB and of NH."
    if by == "records":
        ratio = [r for _, some in results.group_by("table") for r in ratios(some, "loss", CB, NH, by).values()]
        why += f" CB loses {spelled(dict(enumerate(ratio)))} what NH does."
        steps += [r < 1 for r in ratio]
    return Verdict("reproduced" if all(steps) else "trend only" if any(steps) else "not reproduced", why)


def _slower(results: pl.DataFrame) -> Verdict:
    ratio = ratios(results, "seconds", CB, NH, "records")
    why = f"CB takes {spelled(ratio)} the time of NH."
    return Verdict("reproduced" if min(ratio.values()) > 1 else "not reproduced", why)
