"""Releases with a weakness that one attack is after, and the same without it; all made up, by a seed."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

import kohort

GROUPS, SIZE, VALUES = 60, 6, 8
"""Classes, rows of each, and different sensitive values."""


@dataclass(frozen=True)
class Given:
    """What is attacked, and with what."""

    release: Any
    policy: kohort.Policy
    more: dict[str, Any] = field(default_factory=dict)


def policy(k=2, **more):
    """Two quasi-identifiers and a sensitive column."""
    return kohort.Policy.build(k=k, quasi_identifiers=["x", "y"], sensitive=["s"], **more)


def people(rng):
    """Records whose x says in which class they are; the sensitive value has nothing to do with it."""
    group = np.repeat(np.arange(GROUPS), SIZE)
    n = len(group)
    return pl.DataFrame(
        {
            "x": group * 10 + rng.integers(0, 10, n),
            "y": rng.integers(0, 100, n),
            "s": [f"s{value}" for value in rng.integers(0, VALUES, n)],
            "group": group,
        }
    )


def in_bins(table):
    """The same as a release with intervals that do not depend on the records."""
    low = table["group"] * 10
    return table.select(x=pl.Series([f"[{one} - {one + 9}]" for one in low]), y=pl.lit("[0 - 99]"), s="s")


def tight(table, key="group"):
    """The same with intervals as narrow as can be."""
    ends = [pl.format("[{} - {}]", pl.col(name).min().over(key), pl.col(name).max().over(key)) for name in "xy"]
    alone = [pl.col(name).min().over(key) == pl.col(name).max().over(key) for name in "xy"]
    shown = [
        pl.when(one).then(pl.col(name).cast(pl.String)).otherwise(end).alias(name)
        for name, end, one in zip("xy", ends, alone, strict=True)
    ]
    return table.select(*shown, "s")


def _linkage(rng, weak):
    table = people(rng)
    release = in_bins(table)
    if weak:
        exact = table["group"] < GROUPS // 4
        release = release.with_columns(
            pl.when(exact).then(table[name].cast(pl.String)).otherwise(pl.col(name)).alias(name) for name in "xy"
        )
    return Given(release, policy(), {"original": table.select("x", "y", "s")})


def _homogeneity(rng, weak):
    table = people(rng)
    same = pl.when(pl.col("group") < 5).then(pl.lit("s0")).otherwise("s") if weak else pl.col("s")
    return Given(in_bins(table.with_columns(s=same)), policy())


def _background(rng, weak):
    table = people(rng)
    if weak:
        pair = pl.format("s{}", (pl.col("group") + pl.Series(rng.integers(0, 2, table.height))) % VALUES)
        table = table.with_columns(s=pair)
    return Given(in_bins(table), policy())


def _proximity(rng, weak):
    table = people(rng)
    pay = rng.integers(0, 1000, table.height)
    if weak:
        near = table["group"].to_numpy() < 10
        pay = np.where(near, table["group"].to_numpy() * 90 + pay // 20, pay)
    return Given(in_bins(table.with_columns(s=pl.Series(pay))), policy())


def _inference(rng, weak):
    table = people(rng)
    if weak:
        likely = pl.format("s{}", pl.col("group") * 4 // GROUPS)
        table = table.with_columns(s=pl.when(pl.Series(rng.random(table.height) < 0.5)).then(likely).otherwise("s"))
    return Given(in_bins(table), policy(), {"original": table.select("x", "y", "s")})


def _minimality(rng, weak):
    # of six, two are apart from the others; together, since alike, or for no reason at all
    group = np.repeat(np.arange(GROUPS), 6)
    apart = np.tile([0, 0, 7, 8, 8, 9], GROUPS)
    values = np.array([["v", "v", *rng.permutation(list("abcd"))] for _ in range(GROUPS)])
    if not weak:
        values = rng.permuted(values, axis=1)
    table = pl.DataFrame({"x": group * 10 + apart, "y": group * 0 + 5, "s": values.ravel(), "group": group})
    promise = policy(k=2, models=[{"model": "distinct-l-diversity", "column": "s", "l": 2}])
    return Given(in_bins(table), promise, {"original": table.select("x", "y", "s")})


def _downcoding(rng, weak):
    table = people(rng)
    return Given(tight(table) if weak else in_bins(table), policy(), {"original": table.select("x", "y", "s")})


def _intersection(rng, weak):
    table = people(rng)
    other = (
        table.with_columns(group=pl.Series(rng.permutation(table["group"])))
        .sort("y")
        .with_columns(group=pl.Series(np.arange(table.height) // SIZE))
    )
    second = tight(other) if weak else in_bins(table)
    return Given(in_bins(table), policy(), {"original": table.select("x", "y", "s"), "against": [second]})


def _join(rng, weak):
    table = people(rng)
    by_y = table.sort("y").with_columns(group=pl.Series(np.arange(table.height) // SIZE))
    tables = {"1": in_bins(table).select("x", "s"), "2": tight(by_y).select("y", "s")}
    if not weak:
        tables["2"] = in_bins(table).select("y", "s")
    return Given(tables, policy(), {"original": table.select("x", "y", "s")})


_RING = (0, 1), (1, 2), (0, 2)


def _matching(rng, weak):
    # in a chain, the last row is of the last record, so the last but one of the last but one; a ring leaves it open
    n = 60
    x = rng.permutation(n)
    if weak:
        ends = [(one, min(one + 1, n - 1)) for one in x]
    else:
        ends = [(one - one % 3 + low, one - one % 3 + high) for one in x for low, high in [_RING[one % 3]]]
    shown = [f"[{low} - {high}]" if low < high else f"{low}" for low, high in ends]
    release = pl.DataFrame({"x": shown, "y": ["5"] * n, "s": ["s"] * n})
    original = pl.DataFrame({"x": x, "y": [5] * n, "s": ["s"] * n})
    promise = policy(k=2).with_changes("privacy", anonymity="matchings").with_changes("algorithm", name="nh")
    return Given(release, promise, {"original": original})


_MADE = {
    "linkage": _linkage,
    "homogeneity": _homogeneity,
    "background": _background,
    "skewness": _background,
    "proximity": _proximity,
    "inference": _inference,
    "minimality": _minimality,
    "downcoding": _downcoding,
    "intersection": _intersection,
    "join": _join,
    "matching": _matching,
}


def made(name, seed, *, weak):
    """A release for an attack."""
    return _MADE[name](np.random.default_rng([seed, 7]), weak)


def alarms(name, seeds, *, weak):
    """Of how many releases the attack says that it succeeds."""
    found = 0
    for seed in seeds:
        given = made(name, seed, weak=weak)
        results = kohort.attack(given.release, given.policy, only=[name], seed=seed, **given.more).results
        assert results, f"{name} was not tried"
        found += any(one.succeeds for one in results)
    return found
