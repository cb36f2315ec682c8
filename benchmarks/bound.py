"""Lower bounds: value and seconds, for some efforts; each after its kernels are compiled."""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl
from tables import EIGHT, FOUR, adult_policy, census_policy, path

import kohort
from kohort.codes.encode import Codes, encode
from kohort.measures import MEASURES
from kohort.measures.bounds import lower_bound
from kohort.table import typed_quasi_identifiers

NCP = MEASURES.make("ncp", {})


def adult(quasi: list[str]) -> Codes:
    return _codes(kohort.datasets.adult(), adult_policy(quasi, 5))


def census() -> Codes:
    table = pl.read_parquet(path("census_income/census_income.parquet"))
    return _codes(table, census_policy(table.columns, 10))


def _codes(table: pl.DataFrame, policy: kohort.Policy) -> Codes:
    return encode(typed_quasi_identifiers(table, policy), policy)


def main(efforts: list[float]):
    four, eight = adult(FOUR), adult(EIGHT)
    lower_bound(Codes(four.array[:200], four.axes), NCP, 3, np.random.default_rng(1))
    print("| table | k | effort | lower bound | by | seconds |")
    print("|---|---|---|---|---|---|")
    runs = [("Adult, 4 QIs", four, k) for k in (5, 10, 50)] + [("Adult, 8 QIs", eight, k) for k in (5, 10, 50)]
    for name, codes, k in [*runs, ("Census, 9 QIs", census(), 10)]:
        for effort in efforts:
            start = time.perf_counter()
            bound = lower_bound(codes, NCP, k, np.random.default_rng(1), effort)
            seconds = time.perf_counter() - start
            print(f"| {name} | {k} | {effort:g} | {bound.value:.5f} | {bound.method} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main([float(effort) for effort in sys.argv[1:]] or [1.0, 5.0, 20.0])
