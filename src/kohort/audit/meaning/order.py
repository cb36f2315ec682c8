"""Which original row each released row comes from: an array, or a file with one row number for each row."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kohort.audit.read.database import Database, Unreadable
from kohort.audit.read.dictionary import Ints
from kohort.audit.read.opened import File
from kohort.audit.read.parquet import parquet_file
from kohort.audit.read.table import BATCH, Chunk, Table
from kohort.errors import DataError
from kohort.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

NAME = "row_order"
"""Its table in the database: r, a released row, and o, its original row."""
_DIGITS = 18
"""Digits of a row number, at most."""
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")


class InArray:
    """Row numbers in an array."""

    def __init__(self, array: np.ndarray[Any, np.dtype[np.integer]]) -> None:
        self._array = array

    def rows(self, start: int, stop: int) -> Ints:
        """The original rows of the released rows from `start` to before `stop`."""
        return self._array[start:stop]


class InFile:
    """Row numbers in a file, of which only some are read at a time."""

    def __init__(self, database: Database, part: Chunk) -> None:
        self._database, self._part = database, part

    def rows(self, start: int, stop: int) -> Ints:
        """The original rows of the released rows from `start` to before `stop`."""
        number = self._part.number
        found = self._database.arrays(
            f"SELECT c0 AS o FROM {self._part.relation} WHERE {number} >= {start} AND {number} < {stop}"
        )["o"]
        rows: Ints = np.ma.filled(found, -1)
        return rows


Order: TypeAlias = InArray | InFile


def order_of(
    given: ArrayLike | str | Path, database: Database, policy: Policy, release: Table, original: Table | None
) -> Order:
    """Check that every released row has one original row of its own.

    Parameters
    ----------
    given : array of int, or path
        A file has a whole number for each released row, in their order: one in each line, or in the one column of a
        Parquet file.
    """
    if original is None:
        raise DataError("row_order: it needs the original; give both or neither.")
    order: Order | None
    if not isinstance(given, str | Path):
        order = _in_array(given, database, release)
    elif File(Path(given), f"{NAME} {Path(given).name}").head(4) == b"PAR1":
        order = _in_parquet(Path(given), database, policy, release)
    else:
        order = _in_array(_in_lines(Path(given), release.rows), database, release)
    if order is None:
        raise DataError("row_order: it must hold one whole number for each released row.")
    try:
        fits = _are_different(order, release.rows, original.rows, database.room)
    except Unreadable:
        raise DataError(f"row_order {Path(str(given)).name}: it cannot be read; the file is damaged.") from None
    if not fits:
        raise DataError("row_order: it must name an original row, counted from 0, and none of them twice.")
    return order


def _in_array(given: Any, database: Database, release: Table) -> InArray | None:
    array: np.ndarray[Any, np.dtype[Any]] = np.asarray(given)
    if array.shape != (release.rows,) or array.dtype.kind not in "iu":
        return None
    return order_in_array(array, database)


def order_in_array(array: np.ndarray[Any, np.dtype[np.integer]], database: Database) -> InArray:
    """Give the database the numbers of the original rows, in the order of the released ones."""
    import polars as pl

    database.register(NAME, pl.DataFrame({"r": np.arange(len(array)), "o": array.astype(np.int64)}))
    return InArray(array)


def _in_lines(path: Path, rows: int) -> NDArray[np.int64]:
    """The numbers of a plain text, one in each line and nothing else; of too many, one more than there are rows."""
    found = array("q")
    with path.open("rb") as file:
        # a line that is longer is no number, and is not read to its end
        while len(found) <= rows and (line := file.readline(_DIGITS + 3)):
            digits = line.removesuffix(b"\n").removesuffix(b"\r")
            if not digits.isdigit() or len(digits) > _DIGITS:
                raise DataError(
                    f"{NAME} {path.name}: line {len(found) + 1} is not one whole number; give the original row of each "
                    "released row, counted from 0, one in each line, or a Parquet file with one column."
                )
            found.append(int(digits))
    return np.array(found, np.int64)


def _in_parquet(path: Path, database: Database, policy: Policy, release: Table) -> InFile | None:
    header, kinds, part = parquet_file(database, path, NAME, policy)
    if len(header) != 1 or kinds["c0"] not in _WHOLE or part.rows != release.rows:
        return None
    database.rows(f"CREATE VIEW {NAME} AS SELECT {part.number} AS r, CAST(c0 AS BIGINT) AS o FROM {part.relation}")
    return InFile(database, part)


def _are_different(order: Order, released: int, originals: int, room: int) -> bool:
    """Whether all numbers are those of original rows, and no two of them are equal."""
    for first in range(0, originals, room):
        seen = np.zeros(min(room, originals - first), bool)
        marked = 0
        for start in range(0, released, BATCH):
            rows = order.rows(start, min(start + BATCH, released))
            if rows.min() < 0 or rows.max() >= originals:
                return False
            here = rows if len(seen) == originals else rows[(rows >= first) & (rows < first + len(seen))] - first
            seen[here] = True
            marked += len(here)
        if marked != np.count_nonzero(seen):
            return False
    return released <= originals
