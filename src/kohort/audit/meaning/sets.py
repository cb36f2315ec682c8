"""What the cells of a column of sets say: their labels, by number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kohort.audit.read.dictionary import Ints

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class SetTexts:
    """Different texts of a column, each as a set."""

    labels: tuple[str, ...]
    """All labels, ascending."""
    codes: Ints
    """Numbers of the labels of text after text, ascending in each."""
    starts: Ints
    """Where each text begins, and where the last one ends."""
    faulty: Ints
    """Texts, by number, that are not written as a set is: an array or labels in ascending order, each once."""

    def of(self, texts: Ints) -> tuple[Ints, Ints]:
        """The labels of some texts, and which of these each is of, by its place."""
        sizes = np.diff(self.starts)[texts]
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        return self.codes[places + np.repeat(self.starts[texts], sizes)], np.repeat(np.arange(len(texts)), sizes)


def set_texts(texts: pl.Series, separator: str | None, *, published: bool) -> SetTexts:
    """Read the different texts of a column; a missing one is the empty set.

    Parameters
    ----------
    published : bool
        Whether they must be in the one form in which sets are published. Of others, blanks around items, their order
        and how often they are there mean nothing.
    """
    import polars as pl

    read = (
        texts.str.split(separator)
        if separator is not None
        else pl.Series(list(_of_json(texts)), dtype=pl.List(pl.String))
    )
    rows = pl.int_range(len(texts), dtype=pl.Int64, eager=True)
    cells = pl.DataFrame([rows.alias("text"), read.alias("label")])
    no_set = cells.filter(pl.col("label").is_null() & texts.is_not_null())["text"]
    cells = cells.filter(pl.col("label").list.len() > 0).explode("label")
    label = pl.col("label")
    wrong = label.is_null() | (label.str.strip_chars() == "")
    if published:
        after = pl.col("text") == pl.col("text").shift(1)
        wrong = wrong | (label != label.str.strip_chars()) | (after & (label <= label.shift(1)))
    faulty = np.union1d(no_set.to_numpy(), cells.filter(wrong)["text"].to_numpy())
    cells = cells.filter(label.str.strip_chars() != "").with_columns(label.str.strip_chars())
    labels = cells["label"].unique().sort()
    codes = labels.search_sorted(cells["label"]).to_numpy() if len(labels) else np.empty(0, np.int64)
    of = cells["text"].to_numpy()
    width = max(len(labels), 1)
    keys = np.sort(of * width + codes)
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]  # a label counts once in a set
    starts = np.concatenate([[0], np.cumsum(np.bincount(keys // width, minlength=len(texts)))])
    return SetTexts(tuple(labels.to_list()), keys % width, starts.astype(np.int64), faulty)


def _of_json(texts: pl.Series) -> Iterator[list[str | None] | None]:
    for text in texts:
        try:
            found = None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list) or not all(_is_item(item) for item in found):
            yield None
            continue
        yield [None if item is None else str(item) for item in found]


def _is_item(item: object) -> bool:
    return item is None or (isinstance(item, str | int) and not isinstance(item, bool))
