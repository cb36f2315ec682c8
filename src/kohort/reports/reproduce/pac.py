"""Zhang et al.: PAC, proximity-aware local recoding with MapReduce, IEEE TC 2015 (paper 003), section 6."""

from __future__ import annotations

import itertools
import math
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from typing_extensions import override

from kohort.datasets import adult_uci, census_income
from kohort.errors import DataError, EngineError
from kohort.policy import Policy
from kohort.release.engines.spark.session import refuse_without_java, refuse_without_spark
from kohort.reports.compare import asked_for
from kohort.reports.measure import describe
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
    falls,
    ratios,
    series,
    spelled,
    steps,
)
from kohort.reports.reproduce.run import figures_of, outcome_of, released

PAC, KMEMBER, LINKAGE = "pac", "k-member", "pac, one part"
SMALL, LARGE = ("D1", 1_000, 10), ("D2", 10_000, 50)
"""Name, records and k of the two data sets of figure 4."""
WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
GOOD = 0.6
"""The weight that the paper suggests."""
MOST = 0.95
"""This share of what can be gained is most of it."""
CENSUS = {
    "quasi": (
        "age",
        "self_employed",
        "veterans_benefits",
        "year",
        "class_of_worker",
        "education",
        "marital_status",
        "race",
        "sex",
    ),
    "sensitive": ("weeks_worked", "persons_worked_for_employer", "detailed_occupation"),
}
"""Four numbers and five categories; two numbers and a category. None is extremely skewed."""
UCI = {
    "quasi": ("age", "education-num", "marital-status", "race", "relationship", "sex", "workclass"),
    "sensitive": ("hours-per-week", "capital-gain", "occupation"),
}
BINS = 20
"""Of the frequencies of eps_MIN."""


@dataclass(frozen=True)
class PacRun(Run):
    """With the weight of sensitive values, and the nodes of Spark, 0 for none."""

    method: str = PAC
    weight: float = 0.0
    nodes: int = 0


@PAPERS.register("pac")
@dataclass(frozen=True)
class PacPaper(Paper):
    """Distances of sensitive values and loss over their weight, against k-member; time over records and nodes."""

    title: ClassVar[str] = "Reproduced: proximity-aware clustering, PAC (Zhang et al., 2015; paper 003)"
    figures: ClassVar[dict[str, str]] = {
        "loss": "ILoss, the measure `iloss`",
        "eps_avg": "Mean distance of the sensitive values of two records of a class (equations 13 and 14), 0 to 1",
        "share": "Share of the classes whose smallest distance (equation 12) is below a value",
        "seconds": "Seconds of clustering",
    }
    data: ClassVar[str] = (
        "Data: people of Census-Income (KDD) who worked; where that table is not there, Adult. The paper chooses 12 "
        "of 40 attributes and does not name them. Here: age, self-employed, veterans benefits, year, class of worker, "
        "education, marital status, race, sex; sensitive are weeks worked, size of the employer and detailed "
        "occupation. Sizes, k, t, theta and tau are those of the paper. D2 and times have fewer repetitions than its "
        "ten, and all ten with `--paper-sizes`."
    )

    @override
    def case(self, run: Run) -> tuple[pl.DataFrame, Policy]:
        frame, named = people()
        sample = frame.sample(run.records, seed=run.seed, shuffle=True)
        return sample, Policy.build(
            k=2, quasi_identifiers=named["quasi"], sensitive=named["sensitive"], measure="iloss"
        )

    @override
    def unable(self, run: Run) -> str | None:
        if not isinstance(run, PacRun) or not run.nodes:
            return None
        try:
            refuse_without_spark()
            refuse_without_java()
        except EngineError as error:
            return f"{error.faults[0]}"
        return None

    @override
    def measured(self, run: Run, frame: pl.DataFrame, policy: Policy) -> dict[str, float]:
        assert isinstance(run, PacRun)
        if run.nodes:
            return {"seconds": on_spark(run, frame, policy)}
        if run.table not in (SMALL[0], LARGE[0]):
            return figures_of(outcome_of(run, frame, policy))
        release = released(run, frame, policy)
        found = describe(release.table, frame, policy.with_changes("privacy", k=run.k))["epsilon"]
        shares = {_bin(number): share for number, share in enumerate(found["eps_min_rcf"], 1)}
        return shares | {
            "loss": release.loss.total,
            "eps_avg": found["mean_eps_avg"],
            "eps_min": found["mean_eps_min"],
            "seconds": release.provenance.seconds["cluster"],
        }

    @override
    def claims(self, size: Size) -> tuple[Claim, ...]:
        quick = size == "quick"
        weights = (0.0, 0.2, GOOD, 1.0) if quick else WEIGHTS
        repeats = {"quick": (2, 1), "full": (10, 3), "paper": (10, 10)}[size]
        over_weight = tuple(
            _run(table, n, k, seed, method, weight)
            for (table, n, k), most in zip((SMALL, LARGE), repeats, strict=True)
            if not (quick and table == LARGE[0])
            for method, weight in [(KMEMBER, 0.0), *((PAC, weight) for weight in weights)]
            for seed in range(1, most + 1)
        )
        linkage = tuple(
            _run(*SMALL, seed, method, 0.0) for method in (LINKAGE, KMEMBER) for seed in range(1, repeats[0] + 1)
        )
        sizes = (2_000, 10_000) if quick else (10_000, 25_000, 50_000, 75_000, 100_000)
        over_n = tuple(
            _run("Time", n, 10, seed, method, 0.5)
            for n, method, seed in itertools.product(
                sizes, (PAC, KMEMBER), range(1, {"quick": 2, "full": 4, "paper": 11}[size])
            )
        )
        nodes = () if quick else _over_nodes()
        return (*_weight(over_weight, linkage), *_time(over_n, nodes), *_by_hand())


def _run(table: str, records: int, k: int, seed: int, method: str, weight: float, nodes: int = 0) -> PacRun:
    """A run with the parameters of the paper: parts of about 1,000 records, or ten of them."""
    t = 10 if table in (SMALL[0], LARGE[0]) else max(1, records // 1000)
    parts = f"t={1 if method == LINKAGE else t}:theta=5:tau=0.001"
    algorithm = KMEMBER if method == KMEMBER else f"pac:{parts}:sensitive_weight={weight}"
    return PacRun(table, records, algorithm, k, seed, method, weight, nodes)


def _over_nodes() -> tuple[Run, ...]:
    """One node up to as many as there are processors."""
    nodes = [number for number in (1, 2, 4, 8, 16) if number <= (os.cpu_count() or 1)]
    return tuple(_run("Spark", 50_000, 10, 1, PAC, 0.5, number) for number in nodes)


@cache
def people() -> tuple[pl.DataFrame, dict[str, tuple[str, ...]]]:
    """Records without missing values, and the roles of their columns."""
    try:
        everybody = census_income().with_columns(pl.col("detailed_occupation").cast(pl.String))
        frame, named = everybody.filter(pl.col("weeks_worked") > 0), CENSUS
    except DataError:
        frame, named = adult_uci(), UCI
    frame = frame.select(*named["quasi"], *named["sensitive"])
    return frame.filter(pl.all_horizontal(pl.col(pl.String) != "?")), named


def on_spark(run: PacRun, frame: pl.DataFrame, policy: Policy) -> float:
    """Seconds of the clustering of a release by Spark on some cores of this machine."""
    from kohort import spark

    _, name, parameters = asked_for(run.algorithm)
    policy = policy.with_changes("algorithm", name=name, parameters=parameters, seed=run.seed, bound_effort=0)
    with tempfile.TemporaryDirectory(prefix="kohort-reproduce-") as folder:
        frame.write_parquet(Path(folder) / "table.parquet")
        release = spark.release(
            Path(folder) / "table.parquet",
            policy.with_changes("privacy", k=run.k),
            Path(folder) / "release.parquet",
            master=f"local[{run.nodes}]",
        )
    return sum(seconds for step, seconds in release.provenance.seconds.items() if step in ("cluster", "write"))


def _bin(number: int) -> str:
    """Column of the share of classes below the upper end of a bin."""
    return f"below {number / BINS:.2f}"


def _frequencies(results: pl.DataFrame) -> pl.DataFrame:
    """A row for each bin."""
    some = results.filter(pl.col("method") == PAC)
    long = some.unpivot([_bin(number) for number in range(1, BINS + 1)], index=["table", "weight"], value_name="share")
    return long.with_columns(distance=pl.col("variable").str.slice(6).cast(pl.Float64))


def _weight(over_weight: tuple[Run, ...], linkage: tuple[Run, ...]) -> tuple[Claim, ...]:
    return (
        Claim(
            "smallest-distances",
            "Figure 4 (a) and (b)",
            "the larger the weight of sensitive values, the more classes have a large smallest distance.",
            _shifted,
            over_weight,
            Axes("distance", "share", "weight", _frequencies),
        ),
        Claim(
            "mean-distance",
            "Figure 4 (c)",
            "the mean distance of the sensitive values of a class grows with the weight.",
            lambda results: _rises(results, "eps_avg"),
            over_weight,
            Axes("weight", "eps_avg", "method"),
        ),
        Claim(
            "loss",
            "Figure 4 (d)",
            "the loss (ILoss) grows with the weight.",
            lambda results: _rises(results, "loss"),
            over_weight,
            Axes("weight", "loss", "method"),
        ),
        Claim(
            "against-k-member",
            "Sections 6.1 and 6.2",
            "PAC keeps sensitive values farther apart than k-member clustering (kMC), and loses more.",
            _against,
            over_weight,
        ),
        Claim("good-weight", "Section 6.2", "a weight of 0.6 seems to be a good choice.", _good, over_weight),
        Claim(
            "kmc-is-pac",
            "Section 6.1",
            "PAC with a weight of 0 and one part is kMC, which the paper cites as k-member clustering.",
            _same,
            linkage,
        ),
    )


def _time(over_n: tuple[Run, ...], nodes: tuple[Run, ...]) -> tuple[Claim, ...]:
    axes = Axes("records", "seconds", "method")
    left_out = Verdict("not measured", "The quick run leaves Spark out.")
    return (
        Claim(
            "linear-time",
            "Figure 5 (a)",
            "the time of PAC grows linearly with the number of records.",
            _linear,
            over_n,
            axes,
            timed=True,
        ),
        Claim(
            "kmc-surges",
            "Figure 5 (a)",
            "the time of kMC surges, and is far above that of PAC for 100,000 records.",
            _surges,
            over_n,
            timed=True,
        ),
        Claim(
            "nodes",
            "Figure 5 (b)",
            "from 5 to 15 nodes, the time of PAC falls nearly linearly with their number.",
            _nodes if nodes else lambda results: left_out,
            nodes,
            Axes("nodes", "seconds", "method") if nodes else None,
            timed=True,
        ),
    )


def _by_hand() -> tuple[Claim, ...]:
    return (
        Claim(
            "theorem-1",
            "Theorem 1",
            "dissimilarity is not monotone: {1, 3, 5} and {2, 4, 6} are (1.5, 1)-dissimilar, their union is not.",
            _theorem_1,
        ),
        Claim(
            "delta-of-the-minimum",
            "Section 6.1",
            "a class satisfies (eps_MIN, n - 1)-dissimilarity.",
            _delta,
        ),
        Claim(
            "attributes",
            "Section 6.2.1",
            "twelve attributes are chosen: four numbers and five categories, and as sensitive two numbers and a "
            "category.",
            _attributes,
        ),
    )


# -- verdicts --------------------------------------------------------------------------------------


def _pac(results: pl.DataFrame) -> pl.DataFrame:
    return results.filter(pl.col("method") == PAC)


def _rising(results: pl.DataFrame, figure: str) -> tuple[Outcome, dict[str, list[float]]]:
    """Whether a figure grows with the weight, and falls nowhere by more than seeds differ."""
    found = {table: line for (table, _), line in series(_pac(results), figure, "weight", "method").items()}
    above = [value > line[0] for line in found.values() for value in line[1:]]
    if all(line[-1] > line[0] for line in found.values()) and not any(
        falls(_pac(results), figure, "weight", "method").values()
    ):
        return "reproduced", found
    return "trend only" if all(above) else "not reproduced", found


def _listed(found: dict[str, list[float]]) -> str:
    return "; ".join(f"{table} {', '.join(f'{value:.4f}' for value in line)}" for table, line in sorted(found.items()))


def _rises(results: pl.DataFrame, figure: str) -> Verdict:
    outcome, found = _rising(results, figure)
    weights = ", ".join(map(str, sorted(_pac(results)["weight"].unique())))
    return Verdict(outcome, f"For weights {weights}: {_listed(found)}.")


def _shifted(results: pl.DataFrame) -> Verdict:
    """A shift that is smaller than a bin of the figure is a trend."""
    outcome, found = _rising(results, "eps_min")
    small = [table for table, line in sorted(found.items()) if line[-1] - line[0] < 1 / BINS]
    why = f"Mean over classes of the smallest distance: {_listed(found)}."
    if small:
        why += (
            f" On {' and '.join(small)} the shift is smaller than one of the {BINS} bins: nearly every class has two "
            "records "
        )
        why += "with nearly the same sensitive values."
    return Verdict("trend only" if small and outcome == "reproduced" else outcome, why)


def _against(results: pl.DataFrame) -> Verdict:
    heavy = results.filter((pl.col("method") == KMEMBER) | (pl.col("weight") == GOOD))
    apart, loss = (ratios(heavy, figure, PAC, KMEMBER, "table", "method") for figure in ("eps_avg", "loss"))
    why = (
        f"With a weight of {GOOD}, PAC has {spelled(apart)} the mean distance of k-member, and {spelled(loss)} its "
        "loss."
    )
    return Verdict(by_share([min(apart.values()) > 1, min(loss.values()) > 1]), why)


def _good(results: pl.DataFrame) -> Verdict:
    """The least weight that has most of what can be gained."""
    of = {figure: _rising(results, figure)[1] for figure in ("eps_avg", "loss")}
    weights = sorted(_pac(results)["weight"].unique())
    least = {}
    for table, line in of["eps_avg"].items():
        enough = line[0] + MOST * (max(line) - line[0])
        least[table] = next(weight for weight, value in zip(weights, line, strict=True) if value >= enough)
    each = ", ".join(f"{weight} on {table}" for table, weight in sorted(least.items()))
    why = f"The least weight with {MOST:.0%} of what the mean distance can gain: {each}; a larger one only loses more."
    has = all(weight <= GOOD for weight in least.values())
    exact = all(weight == GOOD for weight in least.values())
    return Verdict("reproduced" if exact else "trend only" if has else "not reproduced", why)


def _same(results: pl.DataFrame) -> Verdict:
    means = dict(results.group_by("method").agg(pl.col("loss").mean()).iter_rows())
    pairs = results.pivot("method", index="seed", values="loss")
    same = int((abs(pairs[LINKAGE] - pairs[KMEMBER]) < 1e-12).sum())
    why = f"They lose the same with {same} of {len(pairs)} seeds; on average {means[LINKAGE]:.4f} and, k-member, "
    why += (
        f"{means[KMEMBER]:.4f}: one merges by complete linkage, the other grows one cluster after the other. The claim "
    )
    return Verdict("reproduced" if same == len(pairs) else "erratum", f"{why}holds only if kMC is complete linkage.")


def _powers(results: pl.DataFrame) -> dict[str, float]:
    """The power of the number of records that time grows with, from the smallest to the largest."""
    least = results.group_by("table", "records", "method").agg(pl.col("seconds").min())
    sizes = sorted(results["records"].unique())
    found = series(least, "seconds", "records", "method")
    return {
        method: math.log(line[-1] / line[0]) / math.log(sizes[-1] / sizes[0]) for (_, method), line in found.items()
    }


def _linear(results: pl.DataFrame) -> Verdict:
    power = _powers(results)[PAC]
    outcome: Outcome = "reproduced" if power < 1.3 else "trend only" if power < 1.7 else "not reproduced"
    return Verdict(outcome, f"Time grows with n to the power {power:.2f}, in parts of about 1,000 records.")


def _surges(results: pl.DataFrame) -> Verdict:
    power = _powers(results)[KMEMBER]
    least = results.group_by("records", "method").agg(pl.col("seconds").min())
    found = ratios(least, "seconds", KMEMBER, PAC, "records", "method")
    largest = found[max(found)]
    why = (
        f"That of k-member grows with n to the power {power:.2f}, and is {largest:.2f} times that of PAC for "
        f"{max(found):,} "
    )
    return Verdict(
        by_share([power > 1.5, largest > 2]), f"{why}records. k-member here compares distinct rows, and few of them."
    )


def _nodes(results: pl.DataFrame) -> Verdict:
    least = results.group_by("table", "nodes", "method").agg(pl.col("seconds").min())
    nodes = sorted(least["nodes"].unique())
    [line] = series(least, "seconds", "nodes", "method").values()
    each = ", ".join(f"{seconds:.1f} s with {number}" for number, seconds in zip(nodes, line, strict=True))
    why = (
        f"50,000 records in Spark, where clustering includes writing: {each}. The nodes are cores of this machine, "
        "and the "
    )
    why += f"paper's are machines; it has {os.cpu_count()}."
    if len(nodes) < 2:
        return Verdict("not reproducible", why)
    good = steps({"": line}, -1)[0]
    fully = good and nodes[-1] >= 5 and line[0] / line[-1] >= 0.7 * nodes[-1] / nodes[0]
    return Verdict("reproduced" if fully else "trend only" if good else "not reproduced", why)


def _dissimilar(values: Iterable[float], epsilon: float, delta: float = 1.0) -> bool:
    """Whether a share of the others is farther than epsilon from each of some values."""
    some = list(values)
    return all(sum(abs(a - b) > epsilon for b in some) >= delta * (len(some) - 1) for a in some)


def _theorem_1(results: pl.DataFrame) -> Verdict:
    odd, even = (1, 3, 5), (2, 4, 6)
    good = [_dissimilar(odd, 1.5), _dissimilar(even, 1.5), not _dissimilar(odd + even, 1.5)]
    return Verdict(by_share(good), "In the union 2 and 3 are 1 apart.")


def _delta(results: pl.DataFrame) -> Verdict:
    some = (1, 3, 5)
    least = min(abs(a - b) for a, b in itertools.combinations(some, 2))
    at, below = _dissimilar(some, least), _dissimilar(some, least - 0.001)
    why = f"Delta is a share, so 1 is meant. {{1, 3, 5}} has eps_MIN = {least} and is "
    why += f"{'' if at else 'not '}({least}, 1)-dissimilar, as that much apart counts as alike; "
    return Verdict("reproduced" if at else "erratum", f"{why}it is {'' if below else 'not '}for every smaller epsilon.")


def _attributes(results: pl.DataFrame) -> Verdict:
    """How many ways there are to choose them."""
    try:
        frame: Any = census_income()
    except DataError as error:
        return Verdict("not measured", error.faults[0])
    texts = sum(kind == pl.String for kind in frame.schema.values())
    numbers = frame.width - texts
    ways = math.comb(numbers, 4) * math.comb(numbers - 4, 2) * math.comb(texts, 5) * (texts - 5)
    why = (
        f"They are not named. Of {numbers} columns of numbers and {texts} of texts there are {ways:.1g} such choices; "
        "nor "
    )
    return Verdict(
        "not reproducible" if ways > 1 else "reproduced", f"{why}is it said which filter leaves 153,926 records."
    )
