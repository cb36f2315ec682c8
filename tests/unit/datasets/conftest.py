"""One large demo table for all tests that count."""

import polars as pl
import pytest

from kohort.datasets import patients


@pytest.fixture(scope="session")
def many():
    """Enough rows for rare things to happen, with the age in whole years."""
    days = (pl.col("admission_date") - pl.col("birth_date")).dt.total_days()
    return patients(200_000).with_columns(age_in_days=days, age=(days / 365.25).floor().cast(pl.Int64))
