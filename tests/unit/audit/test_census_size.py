"""A table of census size; the time is printed with ``-s``, not asserted."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest

from kohort.audit import verify
from kohort.policy import Policy

CARDINALITIES = [100, 2, 5, 7, 16, 41, 8, 14, 1000]


@pytest.mark.slow
def test_census_size(tmp_path, record_property):
    n, k, rng = 300_000, 10, np.random.default_rng(0)
    names = [f"q{j}" for j in range(len(CARDINALITIES))]
    original = pl.DataFrame({name: rng.integers(0, c, n) for name, c in zip(names, CARDINALITIES, strict=True)})
    order = np.lexsort([original[name].to_numpy() for name in reversed(names)])
    group = np.empty(n, np.int64)
    group[order] = np.arange(n) // k
    release = original.with_columns(group=pl.Series(group)).select(
        pl.format("[{} - {}]", pl.col(name).min().over("group"), pl.col(name).max().over("group")).alias(name)
        for name in names
    )
    shuffle = rng.permutation(n)
    release[shuffle].write_csv(tmp_path / "release.csv")
    policy = Policy.build(k=k, quasi_identifiers=names, types=dict.fromkeys(names, "integer"))
    for row_order in (None, shuffle):
        start = time.perf_counter()
        verdict = verify(tmp_path / "release.csv", policy, original=original, row_order=row_order)
        record_property("seconds", time.perf_counter() - start)
        assert verdict.passed, verdict.reason
        assert verdict.facts.smallest_class == k
