"""The names of a table's columns, before it is read; and the policy in which each of them has an entry of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from kohort.policy import Policy
from kohort.policy.sections import Input
from kohort.table.databases import is_url
from kohort.table.files import files_of
from kohort.table.read import file_kind, read_table
from kohort.table.sources import open_source


def policy_for(policy: Policy | str | Path, table: Any) -> Policy:
    """The policy of a table, with the columns that its patterns stand for in their place."""
    found = Policy.of(policy)
    return found.for_columns(columns_of(table, found.input)) if found.patterns else found


def columns_of(table: Any, settings: Input) -> Sequence[str]:
    """The names of the columns of a table of any kind; of CSV and Parquet files, only what says them is read."""
    names = getattr(table, "columns", None)
    if isinstance(table, pl.LazyFrame):
        return table.collect_schema().names()
    if isinstance(table, str | Path) and not is_url(table):
        first, *_ = files_of(table)
        if file_kind(first) in ("csv", "parquet"):
            return open_source(first, settings).columns
    elif names is not None and all(isinstance(name, str) for name in names):
        return list(names)  # of polars, pandas, DuckDB and Spark
    return read_table(table, settings).frame.columns
