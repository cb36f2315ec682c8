"""Sets of items: cells that hold several values each, as texts with a separator, JSON arrays, or lists.

A set is published in the form in which it came, its items in the order of their texts and each once: so the cell says
nothing of when or how often something was bought. An empty, missing or null cell is the empty set.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.errors import DataError
from kohort.policy import Policy
from kohort.table.words import counted, in_words, unusable

_NO_ITEM = r"[\x00-\x1f\x7f]"
"""What no item holds: characters that end a line or a cell."""


class Ragged:
    """Numbers of record after record, each as many as it has."""

    starts: NDArray[np.int64]
    """Where each record begins, and where the last one ends."""

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Items of each record."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class Sets(Ragged):
    """The sets of all records, one after the other."""

    items: tuple[str, ...]
    """The different items, in the order in which they first occur."""
    codes: NDArray[np.int32]
    """Numbers of the items of record after record, each once in a record."""
    starts: NDArray[np.int64]
    """Where each record begins, and where the last one ends."""


def read_sets(series: pl.Series, policy: Policy) -> Sets:
    """The sets of a column; every kind of fault is reported, with the number of its rows and never an item.

    Raises
    ------
    DataError
        When cells are no sets, or hold items that cannot be published.
    """
    column, name = policy.columns[series.name], series.name
    series = emptied(series, policy)
    if isinstance(series.dtype, pl.List | pl.Array):
        lists = _of_lists(series)
    elif series.dtype == pl.String:
        lists = _of_json(series) if column.separator is None else _of_texts(series, column.separator)
    elif series.dtype == pl.Null:
        lists = series.cast(pl.List(pl.String))
    else:
        raise DataError(
            f"column {name!r}: holds {in_words(series.dtype)}, and a set is a text or a list; give it another type."
        )
    rows = pl.int_range(len(lists), dtype=pl.Int64, eager=True)
    cells = pl.DataFrame([rows.alias("row"), lists.alias("item")]).filter(pl.col("item").list.len() > 0).explode("item")
    _refuse_items(cells, name, column.separator)
    cells = cells.with_columns(pl.col("item").str.strip_chars()).unique(maintain_order=True)
    items = cells["item"].unique(maintain_order=True)
    codes = cells.join(
        pl.DataFrame([items.alias("item"), pl.int_range(len(items), dtype=pl.Int32, eager=True).alias("code")]),
        on="item",
        how="left",
        maintain_order="left",
    )["code"]
    sizes = np.bincount(cells["row"].to_numpy(), minlength=len(lists))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Sets(tuple(items.to_list()), codes.to_numpy().astype(np.int32), starts)


def emptied(series: pl.Series, policy: Policy) -> pl.Series:
    """Null where the policy says that a text means nothing."""
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype != pl.String:
        return series
    nothing = pl.Series(["", *policy.input.missing], dtype=pl.String)
    return series.set(series.str.strip_chars().is_in(nothing.implode()).fill_null(value=False), None)


def _of_texts(series: pl.Series, separator: str) -> pl.Series:
    return series.str.split(separator)


def _of_lists(series: pl.Series) -> pl.Series:
    inner = series.dtype.inner  # type: ignore[attr-defined]
    if inner.is_nested() or unusable(inner) or inner.is_float() or inner.is_temporal():
        raise DataError(f"column {series.name!r}: its lists hold no texts; make the items texts, or whole numbers.")
    return series.cast(pl.List(pl.String))


def _of_json(series: pl.Series) -> pl.Series:
    """JSON arrays of texts and whole numbers, each different text read once."""
    different = series.unique()
    read = [None if text is None else _array(text) for text in different]
    faulty = pl.Series(
        [text for text, items in zip(different, read, strict=True) if text is not None and items is None]
    )
    if len(faulty):
        rows = series.is_in(faulty.implode()).fill_null(value=False).arg_true()
        hold = counted(len(rows), "row holds", "rows hold")
        raise DataError(
            f"column {series.name!r}: {hold} no JSON array of texts (first in row {rows[0] + 1}); correct the cells, "
            "or say in the policy which separator stands between items."
        )
    table = pl.DataFrame([different.alias("text"), pl.Series("items", read, dtype=pl.List(pl.String))])
    joined = pl.DataFrame([series.alias("text")]).join(
        table, on="text", how="left", maintain_order="left", nulls_equal=True
    )
    return joined["items"]


def _array(text: str) -> list[str | None] | None:
    """The items of a JSON array; None for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list):
        return None
    if any(isinstance(item, bool) or not isinstance(item, str | int | None) for item in found):
        return None
    return [None if item is None else str(item) for item in found]


def _refuse_items(cells: pl.DataFrame, name: str, separator: str | None) -> None:
    """Refuse items that are nothing, or that a release could not hold."""
    item = pl.col("item")
    faults = {
        "an empty item; remove it, or the separator too many": item.is_null() | (item.str.strip_chars() == ""),
        "the item '*', which a release puts for any item; rename it": item.str.strip_chars() == "*",
        "an item with a line break or another control character; remove it": item.str.contains(_NO_ITEM),
    }
    if separator is not None:
        quoted = (
            "an item that begins with a quote: a set is not read as CSV is; remove the quotes, or write JSON arrays"
        )
        faults[quoted] = item.str.strip_chars().str.starts_with('"')
    sentences = []
    for fault, wrong in faults.items():
        rows = cells.filter(wrong)["row"].unique().sort()
        if len(rows):
            hold = counted(len(rows), "row holds", "rows hold")
            sentences.append(f"column {name!r}: {hold} {fault} (first in row {rows[0] + 1}).")
    DataError.refuse(sentences)


def written_sets(
    labels: Sequence[str],
    codes: NDArray[np.integer],
    starts: NDArray[np.int64],
    like: pl.Series,
    separator: str | None,
    *,
    as_text: bool,
) -> pl.Series:
    """Published sets in the form in which they came; labels of a set in the order of their texts.

    Parameters
    ----------
    labels : sequence of str
        Label of each number in `codes`.
    like : Series
        The column as it was read: lists are published as lists, unless `as_text`.
    as_text : bool
        Whether the file has no lists: they are then JSON arrays.
    """
    is_list = isinstance(like.dtype, pl.List | pl.Array)
    texts = pl.Series(labels, dtype=pl.String)
    rank = texts.rank("dense").to_numpy()
    records = len(starts) - 1
    rows = np.repeat(np.arange(records), np.diff(starts))
    order = np.lexsort((rank[codes], rows))
    in_json = as_text if is_list else separator is None
    if in_json:
        texts = pl.Series([json.dumps(label, ensure_ascii=False) for label in labels], dtype=pl.String)
    cells = pl.DataFrame([pl.Series("row", rows[order]), texts.gather(codes[order]).alias("item")])
    found = pl.DataFrame([pl.int_range(records, dtype=pl.Int64, eager=True).alias("row")]).join(
        cells.group_by("row", maintain_order=True).agg("item"), on="row", how="left", maintain_order="left"
    )["item"]
    lists = found.fill_null([])
    if is_list and not as_text:
        return lists.alias(like.name)
    return ("[" + lists.list.join(",") + "]" if in_json else lists.list.join(separator or "")).alias(like.name)
