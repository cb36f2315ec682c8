"""The tables that benchmarks run on, with their policies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import kohort
from kohort.datasets import adult_hierarchies, data_directory

EIGHT = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
FOUR = ["age", "sex", "race", "education"]
NINE = [
    "age", "class_of_worker", "education", "marital_status", "race", "sex", "country_self", "citizenship",
    "hispanic_origin",
]  # fmt: skip


def path(name: str) -> Path:
    """A data file, or an end that says how to get it."""
    folder = data_directory()
    if folder is None or not (folder / name).exists():
        raise SystemExit(f"{name} is not here: set KOHORT_DATA to the folder that holds it.")
    return folder / name


def adult_policy(quasi: list[str], k: int) -> kohort.Policy:
    """Adult with the given quasi-identifiers; age as exact intervals, the rest by their hierarchies."""
    columns = kohort.datasets.adult().columns
    return kohort.Policy.build(
        k=k,
        quasi_identifiers=quasi,
        insensitive=[name for name in columns if name not in quasi],
        hierarchies={name: str(file) for name, file in adult_hierarchies().items() if name in quasi and name != "age"},
        seed=1,
    )


def census_policy(columns: list[str], k: int) -> kohort.Policy:
    """Census-Income with nine quasi-identifiers; texts are kept or `*`."""
    rest = [name for name in columns if name not in NINE]
    return kohort.Policy.build(k=k, quasi_identifiers=NINE, insensitive=rest, seed=1)


ILLNESS = "illness"
"""A made-up sensitive column, for algorithms that need one."""


def adult_case(k: int) -> tuple[pl.DataFrame, kohort.Policy]:
    """Adult with eight quasi-identifiers and a made-up sensitive column, and its policy."""
    frame = kohort.datasets.adult()
    return with_illness(frame), with_sensitive(adult_policy(EIGHT, k))


def census_case(k: int) -> tuple[pl.DataFrame, kohort.Policy]:
    """Census-Income with nine quasi-identifiers and a made-up sensitive column, and its policy."""
    frame = pl.read_parquet(path("census_income/census_income.parquet"))
    return with_illness(frame), with_sensitive(census_policy(frame.columns, k))


def with_illness(frame: pl.DataFrame) -> pl.DataFrame:
    """Add a column of forty illnesses, the most frequent of which has a share of about 6 %, related to nothing.

    The tables have no column that buckets of ten could be made of: each has a value of more than one in ten.
    """
    shares = 1 / np.arange(10, 50)
    drawn = np.random.default_rng(1).choice(40, frame.height, p=shares / shares.sum())
    return frame.with_columns(pl.Series(ILLNESS, [f"illness {number}" for number in drawn]))


def with_sensitive(policy: kohort.Policy) -> kohort.Policy:
    """The policy, with the made-up column."""
    return policy.with_changes("columns", **{ILLNESS: {"role": "sensitive"}})


def peak_memory() -> float:
    """Most memory that this process has had so far, in GiB.

    `getrusage` would tell that of the process that started it, if that had more.
    """
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 2**20
