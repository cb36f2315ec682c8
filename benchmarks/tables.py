"""The tables that benchmarks run on, with their policies."""

from __future__ import annotations

from pathlib import Path

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
