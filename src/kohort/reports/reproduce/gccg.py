"""Ni, Xie, Qian: Clustering based k-anonymity algorithm for privacy preservation, 2017 (paper 000), sections 4 to 6."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import polars as pl
from typing_extensions import override

from kohort.datasets import adult_hierarchy, adult_uci
from kohort.policy import Policy
from kohort.reports.reproduce.base import (
    PAPERS,
    Axes,
    Claim,
    Outcome,
    Paper,
    Run,
    Size,
    Verdict,
    by_share,
    ratios,
    series,
    spelled,
    steps,
)
from kohort.reports.reproduce.gccg_example import example_claims
from kohort.reports.reproduce.run import figures_of, outcome_of

GCCG, KACA, INCOGNITO = "gccg", "kaca", "incognito"
THREADS = {"gccg-parallel:parts=2": 3.5, "gccg-parallel:parts=4": 10.5}
"""By the paper, how many times as fast as the serial algorithm."""
LOW = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad")
HIGH = ("Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate")
QUASI = ("age", "sex", "race", "education", "marital-status", "relationship")
"""The four of the paper, and two more."""
VALUES = {"age": 72, "sex": 2, "workclass": 8, "race": 5, "education": 16}
"""Table 9."""
RECORDS = 30_661
CLASSES = {INCOGNITO: (36, 36, 20, 20, 20, 20, 20, 20), KACA: (9955, 7406, 5988, 5035, 4235, 3739, 3325, 2977)}
"""Table 10, K = 3 to 10: the records over the mean class size."""
ABOUT = 0.1
"""A share is about another if they differ by no more."""
FEW = 1.1
"""Up to this ratio, more is a little more."""


@dataclass(frozen=True)
class GccgRun(Run):
    """With a number of quasi-identifiers and a measure."""

    d: int = 4
    measure: str = "leaf"


@PAPERS.register("gccg")
@dataclass(frozen=True)
class GccgPaper(Paper):
    """GCCG against Incognito and KACA over K and quasi-identifiers; serial against parallel."""

    title: ClassVar[str] = "Reproduced: GCCG (Ni, Xie, Qian, 2017; paper 000)"
    figures: ClassVar[dict[str, str]] = {
        "loss": "Information loss: `leaf`, that of the paper, in which a bare value costs 1 / leaves; `ncp`, in which "
        "it costs nothing",
        "size": "Mean number of records of a class, as a reader sees it",
        "seconds": "Seconds of clustering",
    }
    data: ClassVar[str] = (
        "Data: all records of Adult (UCI) whose work class is known, which has the numbers of values of the paper's "
        "table 9. Education has three levels, divided after HS-grad; sex and race are kept or `*`; ages have no "
        "hierarchy, and for Incognito bins of 5, 10, 20 and 40 years. Beyond the paper's four quasi-identifiers (age, "
        "sex, race, education) marital status and relationship are added."
    )

    @override
    def case(self, run: Run) -> tuple[pl.DataFrame, Policy]:
        assert isinstance(run, GccgRun)
        trees: dict[str, Any] = {
            "sex": {"flat": True},
            "race": {"flat": True},
            "education": {"tree": {"Low": list(LOW), "High": list(HIGH)}},
            "marital-status": str(adult_hierarchy("marital-status")),
            "relationship": {"flat": True},
        }
        quasi = QUASI[: run.d]
        frame = people().select(*quasi, "workclass")
        if run.records < frame.height:
            frame = frame.sample(run.records, seed=run.seed, shuffle=True)
        used = {name: tree for name, tree in trees.items() if name in quasi}
        return frame, Policy.build(
            k=2, quasi_identifiers=quasi, sensitive=["workclass"], hierarchies=used, measure=run.measure
        )

    @override
    def measured(self, run: Run, frame: pl.DataFrame, policy: Policy) -> dict[str, float]:
        outcome = outcome_of(run, frame, policy)
        found = figures_of(outcome) | {"clusters": float(outcome.clusters or 0)}
        rows = float(frame.select(policy.quasi_identifiers).n_unique())
        return found | {"size": frame.height / found["classes"], "rows": rows}

    @override
    def claims(self, size: Size) -> tuple[Claim, ...]:
        quick = size == "quick"
        ks = (3, 7, 10) if quick else tuple(range(3, 11))
        seeds = range(1, 3 if quick else 6)
        n = people().height

        def runs(names: Iterable[str], ks: Iterable[int], records: int = n, **settings: Any) -> tuple[Run, ...]:
            return tuple(
                GccgRun("Adult", records, name, k, seed, **settings) for k in ks for name in names for seed in seeds
            )

        three = GCCG, KACA, INCOGNITO
        loss = runs(three, ks) + runs(three, ks, measure="ncp")
        over_d = tuple(run for d in ((2, 4, 6) if quick else (2, 3, 4, 5, 6)) for run in runs(three, (3,), d=d))
        threads = runs((GCCG, *THREADS), ks, d=6)
        sizes = (1_000, n) if quick else (1_000, 3_000, 10_000, n)
        over_n = tuple(run for records in sizes for run in runs((GCCG, *THREADS), (5,), records, d=6))
        return (*_loss(loss, over_d), *_sizes(loss), *_time(loss, threads), *_parallel(threads, over_n), *_by_hand())


@cache
def people() -> pl.DataFrame:
    """Adult as the paper seems to have had it."""
    return adult_uci().filter(pl.col("workclass") != "?")


def _by_measure(results: pl.DataFrame) -> pl.DataFrame:
    """A panel for each measure."""
    return results.with_columns(table=pl.format("{}, {}", "table", "measure"))


def _loss(loss: tuple[Run, ...], over_d: tuple[Run, ...]) -> tuple[Claim, ...]:
    both = Axes("k", "loss", shape=_by_measure)
    return (
        Claim(
            "third-of-incognito",
            "Figure 3, sections 6.1 and 7",
            "GCCG loses about a third of what Incognito does, K = 3 to 10.",
            lambda results: _share(results, INCOGNITO, 1 / 3, "k"),
            loss,
            both,
        ),
        Claim(
            "half-of-kaca",
            "Figure 3, section 7",
            "GCCG loses about half of what KACA does, K = 3 to 10.",
            lambda results: _share(results, KACA, 1 / 2, "k"),
            loss,
            Axes(
                "k",
                "loss",
                shape=lambda results: _by_measure(results.filter(pl.col("algorithm") != INCOGNITO)),
                free=True,
            ),
        ),
        Claim(
            "local-below-global",
            "Figure 3",
            "both local algorithms, GCCG and KACA, lose less than Incognito.",
            _local,
            loss,
        ),
        Claim(
            "quasi-identifiers",
            "Figure 3, here with 2 to 6 quasi-identifiers",
            "GCCG loses about a third of what Incognito does; the paper has four quasi-identifiers only.",
            lambda results: _share(results, INCOGNITO, 1 / 3, "d"),
            over_d,
            Axes("d", "loss"),
        ),
    )


def _sizes(loss: tuple[Run, ...]) -> tuple[Claim, ...]:
    return (
        Claim(
            "class-sizes-of-gccg",
            "Table 10",
            "classes of GCCG have K records on average, to two decimals.",
            lambda results: _of_gccg(_paper_measure(results)),
            loss,
            Axes("k", "size", shape=_paper_measure),
        ),
        Claim(
            "class-sizes-of-incognito",
            "Table 10",
            "those of Incognito have 851.69 records for K = 3 and 4, and 1533.05 for K = 5 to 10: 36 and 20 classes.",
            lambda results: _of_incognito(_paper_measure(results)),
            loss,
        ),
        Claim(
            "class-sizes-of-kaca",
            "Table 10",
            "those of KACA have 3.08 records for K = 3, to 10.30 for K = 10: 9,955 to 2,977 classes.",
            lambda results: _of_kaca(_paper_measure(results)),
            loss,
        ),
        Claim(
            "loss-and-class-size",
            "Section 6.1",
            "larger classes lose more.",
            lambda results: _grows(_paper_measure(results)),
            loss,
        ),
    )


def _time(loss: tuple[Run, ...], threads: tuple[Run, ...]) -> tuple[Claim, ...]:
    return (
        Claim(
            "ten-times-as-fast-as-kaca",
            "Figure 4",
            "GCCG is about ten times as fast as KACA.",
            _ten_times,
            loss,
            Axes("k", "seconds", shape=_paper_measure),
            timed=True,
        ),
        Claim(
            "incognito-is-the-fastest",
            "Figure 4",
            "Incognito is the fastest of the three.",
            _incognito_first,
            loss,
            timed=True,
        ),
        Claim(
            "threads",
            "Figure 5",
            "with two threads GCCG is 3.5 times as fast, with four 10.5 times.",
            _threads,
            threads,
            Axes("k", "seconds"),
            timed=True,
        ),
        Claim(
            "threads-and-k",
            "Section 6.3",
            "the time of the serial algorithm falls with K, that of the parallel one does not depend on it.",
            _flat,
            threads,
            timed=True,
        ),
    )


def _parallel(threads: tuple[Run, ...], over_n: tuple[Run, ...]) -> tuple[Claim, ...]:
    return (
        Claim(
            "parallel-loss",
            "Figure 6",
            "the parallel algorithm loses more, but little.",
            _little_more,
            threads,
            Axes("k", "loss"),
        ),
        Claim(
            "parallel-loss-and-size",
            "Section 6.3",
            "the more records, the less the parallel algorithm adds to the loss.",
            _less_with_size,
            over_n,
            Axes("records", "loss"),
        ),
    )


def _by_hand() -> tuple[Claim, ...]:
    return (
        Claim("numbers-of-values", "Table 9", "age 72, sex 2, work class 8, race 5, education 16.", _table_9),
        Claim("number-of-records", "Section 6", "after preprocessing, Adult has 30,661 records.", _records),
        *example_claims(),
    )


# -- verdicts --------------------------------------------------------------------------------------


def _paper_measure(results: pl.DataFrame) -> pl.DataFrame:
    return results.filter(pl.col("measure") == "leaf")


def _share(results: pl.DataFrame, other: str, share: float, by: str) -> Verdict:
    """Whether GCCG loses a share of what another algorithm does."""
    found = ratios(_paper_measure(results), "loss", GCCG, other, by)
    why = f"By the measure of the paper, GCCG loses {spelled(found)} what {other} does"
    bare = results.filter(pl.col("measure") == "ncp")
    if len(bare):
        free = ratios(bare, "loss", GCCG, other, by)
        why += f"; if values that are not generalized cost nothing, {spelled(free)}"
    good = all(abs(ratio - share) <= ABOUT for ratio in found.values())
    some: Outcome = "trend only" if max(found.values()) < 1 else "not reproduced"
    if other == KACA:
        why += ". KACA leaves classes of K equal records as they are, of which this table has many"
    return Verdict("reproduced" if good else some, f"{why}.")


def _local(results: pl.DataFrame) -> Verdict:
    some = _paper_measure(results)
    found = {name: ratios(some, "loss", name, INCOGNITO, "k") for name in (GCCG, KACA)}
    why = " and ".join(f"{name} {spelled(ratio)}" for name, ratio in found.items())
    return Verdict(
        by_share(ratio < 1 for of in found.values() for ratio in of.values()), f"Of what Incognito loses: {why}."
    )


def _means_of(results: pl.DataFrame, name: str, figure: str) -> dict[int, float]:
    some = results.filter(pl.col("algorithm") == name).group_by("k").agg(pl.col(figure).mean()).sort("k")
    return dict(some.iter_rows())


def _of_gccg(results: pl.DataFrame) -> Verdict:
    clusters, sizes = _means_of(results, GCCG, "clusters"), _means_of(results, GCCG, "size")
    records = int(results["records"].max())  # type: ignore[arg-type]
    good = [round(records / number, 2) == k for k, number in clusters.items()]
    why = (
        f"Of its clusters, at most {max(records / number - k for k, number in clusters.items()):.4f} above K. A reader "
    )
    why += f"sees fewer and larger classes, {max(sizes.values()):.1f} records for the largest K, as equal ones are one."
    return Verdict(by_share(good), why)


def _of_incognito(results: pl.DataFrame) -> Verdict:
    classes = _means_of(results, INCOGNITO, "classes")
    good = [classes[k] == CLASSES[INCOGNITO][k - 3] for k in classes]
    there = ", ".join(f"{classes[k]:.0f} for K = {k}" for k in classes)
    return Verdict(by_share(good), f"Classes of the node of least loss: {there}.")


def _of_kaca(results: pl.DataFrame) -> Verdict:
    classes, rows = _means_of(results, KACA, "classes"), int(results["rows"].max())  # type: ignore[arg-type]
    close = all(abs(found / CLASSES[KACA][k - 3] - 1) <= ABOUT for k, found in classes.items())
    there = ", ".join(f"{found:,.0f} for K = {k}" for k, found in classes.items())
    if close:
        return Verdict("reproduced", f"Classes: {there}.")
    why = f"Classes: {there}."
    beyond = [k for k in classes if CLASSES[KACA][k - 3] > rows]
    if beyond:
        why += (
            f" KACA starts from classes of equal records, of which this table has {rows:,}, and only joins them; the "
            f"paper has more classes than that for K = {', '.join(map(str, beyond))}. It does not say how."
        )
    return Verdict("not reproducible" if beyond else "not reproduced", why)


def _grows(results: pl.DataFrame) -> Verdict:
    found = series(results, "loss", "k")
    never_less = {key: [a <= b for a, b in itertools.pairwise(some)] for key, some in found.items()}
    good = {key[1]: all(some) for key, some in never_less.items()}
    why = ", ".join(f"{name}: {'yes' if held else 'no'}" for name, held in sorted(good.items()))
    return Verdict(by_share(good.values()), f"The loss never falls with K: {why}.")


def _fastest(results: pl.DataFrame, above: str, below: str) -> dict[int, float]:
    """Ratios of times; the least of several runs counts, as other work on the machine only adds to it."""
    least = results.group_by("k", "algorithm").agg(pl.col("seconds").min())
    return ratios(least, "seconds", above, below, "k")


def _ten_times(results: pl.DataFrame) -> Verdict:
    found = _fastest(_paper_measure(results), KACA, GCCG)
    why = f"KACA takes {spelled(found)} the time of GCCG. Both look at distinct rows only, of which there are few."
    return Verdict(_times([(ratio, 10) for ratio in found.values()]), why)


def _times(found: Iterable[tuple[float, float]]) -> Outcome:
    """Whether ratios of times are at least half of those that the paper has; whether they are above 1."""
    found = list(found)
    if all(ratio >= wanted / 2 for ratio, wanted in found):
        return "reproduced"
    return "trend only" if all(ratio > 1 for ratio, _ in found) else "not reproduced"


def _incognito_first(results: pl.DataFrame) -> Verdict:
    some = _paper_measure(results)
    found = {name: _fastest(some, name, INCOGNITO) for name in (GCCG, KACA)}
    why = " and ".join(f"{name} {spelled(ratio)}" for name, ratio in found.items())
    return Verdict(
        by_share(ratio > 1 for of in found.values() for ratio in of.values()), f"Of the time of Incognito: {why}."
    )


def _threads(results: pl.DataFrame) -> Verdict:
    found = {name: _fastest(results, GCCG, name) for name in THREADS}
    why = "; ".join(f"the serial algorithm takes {spelled(of)} the time of {name}" for name, of in found.items())
    pairs = [(ratio, THREADS[name]) for name, of in found.items() for ratio in of.values()]
    return Verdict(_times(pairs), f"With six quasi-identifiers, {why}. There are no more threads than processors.")


def _flat(results: pl.DataFrame) -> Verdict:
    least = results.group_by("k", "algorithm").agg(pl.col("seconds").min()).sort("k")
    spans = {
        name: float(some["seconds"][0] / some["seconds"][-1])
        for (name,), some in least.group_by("algorithm", maintain_order=True)
    }
    each = "; ".join(f"{name} {span:.1f}" for name, span in sorted(spans.items()))
    flat = [1 / 1.5 <= spans[str(name)] <= 1.5 for name in THREADS]
    why = f"Time for the smallest K over that for the largest: {each}. The work is cut by parts, and by K all the same."
    return Verdict(by_share([spans[GCCG] > 1.5, *flat]), why)


def _little_more(results: pl.DataFrame) -> Verdict:
    found = [ratio for name in THREADS for ratio in ratios(results, "loss", name, GCCG, "k").values()]
    why = f"With six quasi-identifiers, in parts GCCG loses {spelled(found)} what the serial algorithm does."
    if max(found) > FEW:
        return Verdict("not reproduced", why)
    return Verdict("reproduced" if min(found) > 1 else "trend only", why)


def _less_with_size(results: pl.DataFrame) -> Verdict:
    found = {name: ratios(results, "loss", name, GCCG, "records") for name in THREADS}
    falls = steps({name: list(of.values()) for name, of in found.items()}, -1)
    why = "; ".join(
        f"{name} {', '.join(f'{ratio:.3f} times ({records:,} records)' for records, ratio in of.items())}"
        for name, of in found.items()
    )
    ends = [next(iter(of.values())) > list(of.values())[-1] for of in found.values()]
    outcome: Outcome = "reproduced" if all(falls) else by_share(ends) if not all(ends) else "trend only"
    return Verdict(outcome, f"Of the loss of the serial algorithm: {why}.")


def _table_9(results: pl.DataFrame) -> Verdict:
    found = {name: people()[name].n_unique() for name in VALUES}
    each = ", ".join(f"{name} {number}" for name, number in found.items())
    return Verdict(by_share(found[name] == VALUES[name] for name in VALUES), f"{each}, where the work class is known.")


def _records(results: pl.DataFrame) -> Verdict:
    everybody = adult_uci()
    known = {
        "whose work class is known": people().height,
        "without any missing value": everybody.filter(pl.all_horizontal(pl.all().cast(pl.String) != "?")).height,
        "of all": everybody.height,
        "that differ in the five columns": everybody.select(list(VALUES)).n_unique(),
    }
    each = ", ".join(f"{number:,} {which}" for which, number in known.items())
    return Verdict("reproduced" if RECORDS in known.values() else "not reproducible", f"Records: {each}.")
