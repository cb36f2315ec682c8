"""Columns without names, numbers that no reader holds, and policies that ask for too much: each a sentence."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kohort
from kohort.errors import DataError, PolicyError
from kohort.reports.propose import propose

POLICY = kohort.Policy.build(k=2, quasi_identifiers=["age"], algorithm="fast", seed=1)


@pytest.mark.parametrize("name", ["", " "])
def test_a_column_without_a_name(tmp_path, name):
    frame = pl.DataFrame({"age": [1, 1, 2, 2], name: ["a", "b", "c", "d"]})
    path = tmp_path / "a.parquet"
    frame.write_parquet(path)
    actions = [
        lambda: kohort.anonymize(frame, POLICY),
        lambda: kohort.anonymize(frame.to_pandas(), POLICY),
        lambda: kohort.anonymize(path, POLICY),
        lambda: kohort.anonymize(path, POLICY, output=tmp_path / "out.parquet", memory="300MB"),
        lambda: kohort.measure(frame, path, POLICY),
        lambda: propose(path),
    ]
    for action in actions:
        with pytest.raises(DataError, match="column 2 of the header has no name; name it"):
            action()
    assert kohort.verify(path, POLICY).reason.startswith("column 2 has no role in the policy")
    with pytest.raises(PolicyError, match="a column of the policy has no name"):
        kohort.Policy.build(k=2, quasi_identifiers=["age", name])


def test_decimals_that_the_database_would_round(tmp_path):
    numbers = [Decimal(f"1.{'0' * 44}{last}") for last in (1, 2)]
    table = pa.table({"age": pa.array(numbers, type=pa.decimal256(50, 45))})
    path, stars = tmp_path / "a.parquet", pl.DataFrame({"age": ["*", "*"]})
    pq.write_table(table, path)
    for action in [
        lambda: kohort.verify(path, POLICY),
        lambda: kohort.verify(table, POLICY),
        lambda: kohort.verify(stars, POLICY, original=path),
        lambda: kohort.anonymize(table, POLICY),
        lambda: kohort.anonymize(path, POLICY, output=tmp_path / "out.parquet", memory="300MB"),
    ]:
        with pytest.raises(DataError, match=r"column ('age'|1) holds numbers of (more than 38|too many) digits"):
            action()
    with pytest.raises(DataError):
        kohort.anonymize(path, POLICY)


def test_long_texts_of_numbers_are_told_apart(tmp_path):
    path = tmp_path / "a.csv"
    for digits in (17, 38, 45):
        path.write_text(f"age\n0.{'1' * digits}\n0.{'1' * (digits - 1)}2\n")
        assert kohort.verify(path, POLICY).facts.smallest_class == 1


@pytest.mark.parametrize("missing", ["a million", ["\0"], ["\ud800"]], ids=["many", "zero", "half"])
def test_texts_for_missing_that_cannot_be_looked_for(missing):
    missing = list(map(str, range(1_000_000))) if missing == "a million" else missing
    with pytest.raises(PolicyError, match=r"'?input.missing'? must list"):
        kohort.Policy.build(k=2, quasi_identifiers=["age"], input={"missing": missing})
