"""Columns of every type through the whole path, and how types are inferred."""

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.codes.encode import encode
from kohort.policy import Column, Policy
from kohort.table import typed_quasi_identifiers
from kohort.table.types import infer

DAY = dt.date(1890, 1, 1)
COLUMNS = {
    "decimals": pl.Series(
        [Decimal("0.10"), Decimal("0.20"), Decimal("0.30"), Decimal("9.99")] * 3, dtype=pl.Decimal(10, 2)
    ),
    "floats": pl.Series([0.1, 1e-9, 1e17, -2.5, 3.0, 0.1] * 2),
    "large integers": pl.Series([2**53, 2**53 + 1, 2**62, -(2**62)] * 3),
    "unsigned": pl.Series([1, 2, 3, 4] * 3, dtype=pl.UInt8),
    "dates": pl.Series([DAY + dt.timedelta(days) for days in range(12)]),
    "old dates": pl.Series([dt.date(1, 1, 1), dt.date(9999, 12, 31)] * 6),
    "moments": pl.Series([dt.datetime(2024, 1, 1, 10) + dt.timedelta(hours=7 * i) for i in range(12)]),
    "booleans": pl.Series([True, False, None] * 4),
    "categories": pl.Series(["a", "b", "c"] * 4, dtype=pl.Categorical),
    "enums": pl.Series(["x", "y", "x"] * 4, dtype=pl.Enum(["unused", "x", "y"])),
    "texts": pl.Series(["ä", "ö", "[1 - 2]", "a;b", 'q"q', "'="] * 2),
    "nothing": pl.Series([None] * 12),
    "gaps": pl.Series([1.5, None, float("nan"), 2.5] * 3),
    "constant": pl.Series([7] * 12),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_every_type_makes_a_verified_release(tmp_path, name, suffix):
    frame = pl.DataFrame({"q": COLUMNS[name], "other": [1, 2, 3] * 4})
    policy = Policy.build(k=3, quasi_identifiers=["q", "other"], seed=1)
    release = kohort.anonymize(frame, policy, output=tmp_path / f"out.{suffix}")
    assert release.verdict.passed
    assert kohort.verify(release.path, policy, original=frame).passed
    assert kohort.measure(release.path, frame, policy).total == pytest.approx(release.loss.total, abs=1e-9)


def test_large_integers_are_published_exactly():
    frame = pl.DataFrame({"q": [2**53, 2**53 + 1] * 2 + [2**62 + 1] * 2})
    policy = Policy.build(k=2, quasi_identifiers=["q"], seed=0)
    published = set(kohort.anonymize(frame, policy).table["q"])
    assert f"[{2**53} - {2**53 + 1}]" in published or {str(2**53), str(2**53 + 1)} <= published
    assert str(2**62 + 1) in published


def test_time_of_day_is_never_published():
    frame = pl.DataFrame({"q": COLUMNS["moments"]})
    release = kohort.anonymize(frame, Policy.build(k=4, quasi_identifiers=["q"]))
    assert not release.table["q"].str.contains(":").any()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-2", "+3"], "integer"),
        (["1", "2.5"], "number"),
        (["1e5", "2"], "number"),
        (["0.5", "0.25"], "number"),
        (["01234", "99999"], "string"),
        (["2024-01-31", "1890-12-01"], "date"),
        (["2024-01-32", "2024-01-01"], "string"),
        (["a", "1"], "string"),
        ([None, None], "string"),
        (["inf", "1"], "string"),
    ],
)
def test_inference(values, expected):
    assert infer(pl.Series("c", values, dtype=pl.String), Column(role="quasi")) == expected


def test_a_million_distinct_values_are_encoded_by_rank():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(1_000_000)
    policy = Policy.build(k=2, quasi_identifiers=["q"])
    codes = encode(typed_quasi_identifiers(pl.DataFrame({"q": values}), policy), policy)
    assert codes.axes[0].size == len(np.unique(values))
    np.testing.assert_array_equal(codes.array[:, 0], np.argsort(np.argsort(values)))


def test_the_sign_of_zero_is_not_published(tmp_path):
    frame = pl.DataFrame({"q": [-0.0, 0.0, 1.5, -0.0] * 3, "t": ["-0.0", "1.5", "2.5"] * 4})
    policy = Policy.build(k=6, quasi_identifiers=["q", "t"], seed=1)
    kohort.anonymize(frame, policy, output=tmp_path / "out.csv")
    assert "-0" not in (tmp_path / "out.csv").read_text()


def test_texts_that_no_csv_file_can_hold_are_refused_by_their_column(tmp_path):
    frame = pl.DataFrame({"q": [1, 2] * 3, "note": ["a\0b"] * 6})
    policy = Policy.build(k=3, quasi_identifiers=["q"], insensitive=["note"], seed=1)
    with pytest.raises(kohort.DataError, match=r"^column 'note': has texts with NUL bytes, .* write Parquet\.$"):
        kohort.anonymize(frame, policy, output=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())
    kohort.anonymize(frame, policy, output=tmp_path / "out.parquet")
