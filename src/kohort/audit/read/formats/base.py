"""What a kind of file is to the auditor."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from datetime import datetime, time
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from kohort.common.registry import Registry
from kohort.errors import DataError, KohortError
from kohort.policy.sections import Input

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
_EXACT = 2**53
ROWS = 1 << 16
"""Records that are in memory at a time."""


class Kinds:
    """What equal cells of some columns are, such as numbers or texts: other readers distinguish ``1`` and ``"1"``.

    Parameters
    ----------
    place : str
        What the table is called in a message.
    columns : collection of str
        The quasi-identifiers of a release, and their ends; none of an original, which is read as it is.
    """

    def __init__(self, place: str, columns: Collection[str]) -> None:
        self._place = place
        self._seen: dict[str, dict[Hashable, Hashable]] = {name: {} for name in columns}

    def see(self, name: str, cell: Hashable, kind: Hashable) -> None:
        """Take a cell, as what it is equal to others by; refuse if an equal one was of another kind."""
        seen = self._seen.get(name)
        if seen is not None and cell is not None and seen.setdefault(cell, kind) != kind:
            raise self.fault(name)

    def fault(self, name: str) -> DataError:
        """The fault of a column whose equal cells are of several kinds."""
        return DataError(
            f"{self._place}: column {name!r} has the same value in two kinds or formats, such as a number and a "
            "text, and readers distinguish them; write equal cells alike."
        )

    @property
    def columns(self) -> list[str]:
        """Where equal cells must be of one kind."""
        return list(self._seen)


class Reader(ABC):
    """A kind of file, known by its first bytes, or by its name where these say nothing."""

    name: ClassVar[str]
    extra: ClassVar[str] = ""
    suffixes: ClassVar[tuple[str, ...]]
    """Ends of names that such files have in a folder."""

    @abstractmethod
    def matches(self, head: bytes, path: Path) -> bool:
        """Whether a file is of this kind."""

    @abstractmethod
    def pieces(self, path: Path, place: str, settings: Input | None, kinds: Kinds) -> Iterator[pl.DataFrame]:
        """Read the records, some after the others; all pieces have the same columns and types.

        Parameters
        ----------
        place : str
            What the file is called in a message.
        settings : Input or None
            How an original is read; None for a release, which must be read in one way only.
        kinds : Kinds
            Learns the kinds of all cells of its columns, where a file can hold several kinds in one column.
        """


READERS: Registry[Reader] = Registry("kind of file")


def reader_of(head: bytes, path: Path) -> Reader | None:
    """The reader for a file with these first bytes; None for CSV and Parquet."""
    return next((reader for cls in READERS.values() if (reader := cls()).matches(head, path)), None)


def suffixes() -> tuple[str, ...]:
    """Ends of names of all these kinds."""
    return tuple(end for cls in READERS.values() for end in cls.suffixes)


def library(module: str, place: str, extra: str) -> ModuleType:
    """A library that a kind of file needs."""
    try:
        return import_module(module)
    except ImportError:
        fault = f"{place}: files of this kind need a library; install kohort[{extra}]."
    raise DataError(fault)


def guarded(place: str, action: Callable[[], T]) -> T:
    """Do what a library does with a file; its words about a failure may quote cells, and are not passed on."""
    try:
        return action()
    except (KohortError, MemoryError):
        raise
    except Exception:
        pass
    raise DataError(f"{place}: it cannot be read; it is damaged, or not of the kind that it seems to be.")


def text_frame(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """Records of texts."""
    import polars as pl

    return pl.DataFrame([pl.Series(name, values, dtype=pl.String) for name, values in zip(names, columns, strict=True)])


def refuse_names(names: Sequence[str], place: str) -> None:
    """Refuse columns without a name, and such of one name."""
    if any(not name.strip() for name in names):
        raise DataError(f"{place}: a column has no name; give each column its own.")
    if len(set(names)) < len(names):
        raise DataError(f"{place}: two columns have the same name; give each column its own.")


def text_of(cell: Any) -> str | None:
    """A cell as a text; nothing, not a number and no time are missing, and midnight is the day."""
    match cell:
        case str():
            return str(cell)
        case None:
            return None
        case bool():
            return "true" if cell else "false"
        case int():
            return str(cell)
        case float():
            if math.isnan(cell):
                return None
            is_plain = cell.is_integer() and abs(cell) <= _EXACT and (cell or math.copysign(1, cell) > 0)
            return str(int(cell)) if is_plain else repr(float(cell))
        case datetime():
            if str(cell) == "NaT":
                return None
            return cell.date().isoformat() if cell.time() == time(0) else cell.isoformat()
    return None if str(cell) in ("NaT", "<NA>") else str(cell)
