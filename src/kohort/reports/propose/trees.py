"""Hierarchies for the columns of a table: what is said about their values, and about what these go along with."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from kohort.errors import DataError
from kohort.policy.hierarchy.suggest import Suggestion, suggest
from kohort.policy.hierarchy.suggest.groups import Counts

_LARGEST = 50_000
"""Of more texts than this no tree is made: nobody could read it."""
_OTHERS = 12
"""Other columns that are looked at, at most."""
_FEW = 60
_STEPS = 10
"""Steps in which a column of many numbers or dates is looked at; other columns of many values are left out."""
_SAMPLE = 200_000
"""Records that are looked at for what goes along with what."""


def tree_of(frame: pl.DataFrame, name: str, others: Iterable[str]) -> Suggestion | None:
    """The tree proposed for a column of texts; None where none helps.

    Parameters
    ----------
    frame : polars.DataFrame
        Null where a value is missing.
    others : iterable of str
        Further quasi-identifiers: values whose records are alike in these come together.
    """
    values = frame[name].drop_nulls()
    counted = values.value_counts(name="records").sort(name)
    if not 3 <= counted.height <= _LARGEST:
        return None
    texts = counted[name].to_list()
    seen = _seen(frame, name, texts, others)
    try:
        return suggest(dict(zip(texts, counted["records"], strict=True)), name, seen)
    except DataError:  # a text that can be no label, such as a blank or the root
        return None


def _seen(frame: pl.DataFrame, name: str, texts: list[str], others: Iterable[str]) -> list[Counts]:
    some = frame.drop_nulls(name)
    some = some.sample(_SAMPLE, seed=1) if some.height > _SAMPLE else some
    place = some[name].replace_strict(texts, list(range(len(texts))), return_dtype=pl.Int32).to_numpy()
    found: list[Counts] = []
    for other in others:
        steps = _in_steps(some[other])
        if steps is not None and len(found) < _OTHERS:
            table = np.zeros((len(texts), int(steps.max(initial=0)) + 1))
            np.add.at(table, (place, steps), 1.0)
            found.append(table)
    return found


def _in_steps(values: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
    """A number for each record by its value, a missing one being a value; None if there are too many texts."""
    if values.n_unique() > _FEW:
        if not (values.dtype.is_numeric() or values.dtype.is_temporal()):
            return None
        ranks = values.rank("average").fill_null(0.0).to_numpy()
        steps: np.ndarray[tuple[int], np.dtype[np.int64]] = (ranks * _STEPS / (len(values) + 1)).astype(np.int64)
        return steps
    return values.rank("dense").fill_null(0).to_numpy().astype(np.int64)
