"""Whatever is released in memory is released in parts, too: for any promise about sensitive values."""

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.errors import InfeasibleError
from kohort.release.engines import sample

MODELS = [
    {"model": "frequency-l-diversity", "l": 2},
    {"model": "frequency-l-diversity", "l": 3},
    {"model": "distinct-l-diversity", "l": 3},
    {"model": "entropy-l-diversity", "l": 2.5},
    {"model": "recursive-cl-diversity", "c": 1, "l": 2},
    {"model": "t-closeness", "t": 0.2},
    {"model": "alpha-k", "alpha": 0.4},
    {"model": "beta-likeness", "beta": 0.5},
    {"model": "delta-disclosure", "delta": 1.0},
    {"model": "delta-disclosure", "delta": 1.0, "zeros": "skip"},
    {"model": "k-e", "k": 2, "e": 2},
    {"model": "variance-control", "variance": 1},
    {"model": "epsilon-m", "epsilon": 0.5, "m": 3},
    {"model": "dissimilarity", "epsilon": 0.5, "delta": 0.5},
]


def table_of(rng):
    """A table of two quasi-identifiers, whose sensitive values depend on them as much as chance will have it."""
    n = int(rng.integers(60, 240))
    age, place = rng.integers(0, 40, n), rng.integers(0, 4, n)
    values = int(rng.integers(4, 9))
    follows = rng.random(n) < rng.choice([0.0, 0.5, 0.95])
    pay = np.where(follows, age * values // 40, rng.integers(0, values, n))
    return pl.DataFrame({"age": age, "place": place.astype(str), "pay": pay})


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(sample, "CLASSES", 1)
    monkeypatch.setattr(sample, "FEWEST_CLASSES", 1)


def released(source, policy, out, **how):
    """How many parts there were; None where the promise cannot be kept."""
    try:
        release = kohort.anonymize(source, policy, output=out, overwrite=True, **how)
    except InfeasibleError:
        return None
    assert release.verdict.passed
    return int(release.facts.get("partitions", "1").split(",")[0])


@pytest.mark.slow
@pytest.mark.promise("6.3")
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: "-".join(map(str, model.values())))
def test_what_is_released_in_memory_is_released_in_parts(tmp_path, model):
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    kept = 0
    for seed in range(2):
        rng = np.random.default_rng([seed, len(model)])
        table_of(rng).write_parquet(source)
        policy = kohort.Policy.build(
            k=2,
            quasi_identifiers=["age", "place"],
            sensitive=["pay"],
            types={"place": "string"},
            algorithm=["mondrian", "auto"][seed],
            seed=seed,
        ).with_changes("privacy", models=[model | {"column": "pay"}], suppression_limit=[0.0, 0.1][seed])
        if released(source, policy, out) is None:
            continue
        kept += 1
        for parts in (4, 16):
            assert released(source, policy, out, memory=300_000_000, partitions=parts), (seed, parts)
            assert released(source, policy, out, partitions=parts), (seed, parts)
    assert kept
