"""A hierarchy for one column of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kohort.codes.encode import TreeAxis, encode
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.policy.faults import closest_place
from kohort.policy.hierarchy import Taxonomy
from kohort.policy.hierarchy.suggest import Suggestion
from kohort.policy.hierarchy.suggest.numbers import suggest_cuts
from kohort.reports.propose.looks import look_at
from kohort.reports.propose.trees import tree_of
from kohort.table import read_table
from kohort.table.types import typed_column, with_nulls


def suggested(data: Any, column: str, policy: str | Path | Policy | None = None) -> Suggestion:
    """The hierarchy that is proposed for a column, and why.

    Parameters
    ----------
    data : path or table
        The table.
    column : str
        One of its columns.
    policy : Policy or path, optional
        Its texts for missing values apply, and values are compared by its other quasi-identifiers.
    """
    given = None if policy is None else Policy.of(policy)
    frame, rules = _read(data, column, given)
    typed = typed_column(frame[column], rules)
    if typed.dtype == pl.Date:
        return _by_calendar(typed, column)
    if typed.dtype.is_numeric():
        return _by_cuts(typed, column)
    others = frame.columns if given is None else given.for_columns(frame.columns).quasi_identifiers
    plain = frame.with_columns(typed, *(with_nulls(frame[name], rules) for name in frame.columns if name != column))
    found = tree_of(plain, column, [name for name in others if name != column and name in plain.columns])
    if found is None:
        raise DataError(
            f"column {column!r}: no hierarchy can be proposed; it has fewer than 3 or very many values, or one that "
            "cannot be a label, such as * or a blank. List texts for missing values in [input] of a policy."
        )
    return found


def texts_of(data: Any, column: str, policy: str | Path | Policy | None = None) -> list[str]:
    """The distinct texts of a column, missing ones left out."""
    frame, rules = _read(data, column, None if policy is None else Policy.of(policy))
    return with_nulls(frame[column], rules).drop_nulls().cast(pl.String).unique().sort().to_list()


def _read(data: Any, column: str, policy: Policy | None) -> tuple[pl.DataFrame, Policy]:
    """The table, and what is known of the column."""
    table = read_table(data, None if policy is None else policy.input, known={column})
    if column not in table.frame.columns:
        hint = closest_place(column, table.frame.columns)
        raise PolicyError(f"column {column!r} is not in the table{hint}; check its name, and that the header is there.")
    policy = None if policy is None else policy.for_columns(table.frame.columns)
    spec: dict[str, Any] = {"role": "quasi"}
    if policy is not None and column in policy.columns:
        known = policy.columns[column]
        spec |= {key: getattr(known, key) for key in ("type", "format", "decimal", "thousands") if getattr(known, key)}
    missing = [""] if policy is None else policy.input.missing
    if "type" not in spec and look_at(table.frame[column], missing).is_code_by_name:
        spec["type"] = "string"
    given = {} if policy is None else policy.to_dict().get("input", {})
    return table.frame, Policy(privacy={"k": 2}, input=given, columns={column: spec})


def _by_cuts(values: pl.Series, column: str) -> Suggestion:
    counted = values.drop_nulls().cast(pl.Float64).value_counts(name="records").sort(column)
    levels = suggest_cuts(counted[column].to_numpy(), counted["records"].to_numpy().astype(np.float64))
    if not levels:
        raise DataError(f"column {column!r}: has too few records or values to cut.")
    reason = "cuts at even numbers with the least sum of records times width; coarser levels join neighbours"
    return Suggestion(_built(values, column, {"cuts": levels}), [], reason)


def _by_calendar(values: pl.Series, column: str) -> Suggestion:
    years = values.dt.year().drop_nulls().n_unique()
    levels = ["month", "quarter", "year", *(["decade"] if years > 10 else [])]
    return Suggestion(_built(values, column, {"dates": levels}), [], "calendar periods")


def _built(values: pl.Series, column: str, rules: dict[str, Any]) -> Taxonomy:
    """The tree that rules make of the values."""
    policy = Policy.build(k=2, quasi_identifiers=[column], hierarchies={column: rules})
    axis = encode(pl.DataFrame([values]), policy).axes[0]
    if not isinstance(axis, TreeAxis):
        raise DataError(f"column {column!r}: there are no values to build a hierarchy from.")
    return axis.taxonomy
