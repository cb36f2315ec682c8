"""Typed values as the texts that a release publishes."""

from __future__ import annotations

import polars as pl

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""A decimal number, as a regular expression."""


def as_texts(values: pl.Series) -> pl.Series:
    """Each value as text: ISO dates, shortest exact floats, decimals with all their digits."""
    if values.dtype == pl.Date:
        return values.dt.strftime("%Y-%m-%d")
    return values.cast(pl.String)
