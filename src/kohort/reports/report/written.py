"""How the cells of a quasi-identifier are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import STAR, Exact, Node, PublishedColumn
from kohort.release.published_loss import Counted, read


@dataclass(frozen=True)
class Written:
    """Shares of the rows by the way that a column is written in them."""

    exact: float
    coarse: float
    star: float
    missing: float

    @classmethod
    def of(cls, reader: PublishedColumn, counted: Counted) -> Written:
        """Count them."""
        kinds = np.array([_kind(reader, text) for text in counted.texts], np.int64)
        shares = np.bincount(kinds, counted.times, minlength=4) / max(counted.rows, 1)
        return cls(*shares.tolist())


def _kind(reader: PublishedColumn, text: str | None) -> int:
    if text is None:
        return 3
    if reader.plain(text) == STAR:
        return 2
    meaning = read(reader, text)
    is_point = isinstance(meaning, Interval) and meaning.lo == meaning.hi
    is_leaf = isinstance(meaning, Node) and meaning.leaves == 1
    return 0 if is_point or is_leaf or isinstance(meaning, Exact) else 1
