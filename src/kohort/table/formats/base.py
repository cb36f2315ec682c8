"""What a kind of file is to the rest of the package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, TypeVar

from kohort.common.registry import Registry
from kohort.errors import DataError, KohortError
from kohort.policy.sections import Input

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
BATCH = 1 << 17
"""Records that are in memory at a time."""


@dataclass(frozen=True)
class Contents:
    """What a file holds: its records, and what its columns are called in words."""

    pieces: Iterator[pl.DataFrame]
    """The records, some after the others; all with the same columns and types."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Column to its label, in files that have such."""


class Format(ABC):
    """A kind of file, found by the end of its name."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What messages and pages call it."""
    suffixes: ClassVar[tuple[str, ...]]
    """Ends of names, in lower case."""
    extra: ClassVar[str] = ""
    """The extra of the package that it needs; empty for none."""
    libraries: ClassVar[tuple[str, ...]] = ()
    """The modules in it that making and checking a release need."""
    writes: ClassVar[tuple[str, ...]] = ()
    """The suffixes that can be written; all of them when empty."""

    @abstractmethod
    def read(self, path: Path, settings: Input) -> Contents:
        """Open a file; faults are a DataError that names the file, and never what is in it."""

    @abstractmethod
    def write(self, rows: pl.LazyFrame, path: Path, labels: Mapping[str, str]) -> None:
        """Write records.

        Raises
        ------
        DataError
            When the kind cannot hold a value so that it is read again as it was.
        """

    def refuse_target(self, path: Path) -> None:
        """Refuse to write what can only be read, or what a library is missing for; before any work."""
        if self.writes and not path.name.lower().endswith(self.writes):
            raise DataError(f"{path.name}: {self.title} files can be read and not written; write {self.writes[0]}.")
        for module in self.libraries:
            library(module, path, self)


FORMATS: Registry[Format] = Registry("kind of file")


def format_of(name: str) -> Format:
    """The kind of that name."""
    return FORMATS[name]()


def library(module: str, path: Path, made: Format) -> ModuleType:
    """A library that a kind of file needs.

    Raises
    ------
    DataError
        When it is not installed, with the name of the extra.
    """
    try:
        return import_module(module)
    except ImportError:
        fault = f"{path.name}: {made.title} files need a library; install kohort[{made.extra}]."
    raise DataError(fault)


def batches_of(rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The rows in their order, some after the others."""
    yield from rows.collect_batches(chunk_size=BATCH, maintain_order=True)


def guarded_batches(path: Path, sentence: str, scan: Callable[[], pl.LazyFrame]) -> Iterator[pl.DataFrame]:
    """The same of a file that polars reads.

    Batches come from another thread, and are at their end, too, if that has panicked: so rows are counted before.
    """
    import polars as pl

    rows = guarded(path, sentence, lambda: int(scan().select(pl.len()).collect().item()))
    batches = guarded(path, sentence, lambda: batches_of(scan()))
    while (piece := guarded(path, sentence, lambda: next(batches, None))) is not None:
        rows -= piece.height
        yield piece
    if rows:
        raise DataError(f"{path.name}: {sentence}")


def guarded(path: Path, sentence: str, action: Callable[[], T]) -> T:
    """Do what a library does with a file; its own words about a failure may quote cells, and are not passed on."""
    try:
        return action()
    except (KohortError, MemoryError):
        raise
    except OSError as error:
        if error.strerror:
            raise
    except Exception:
        pass
    except BaseException as error:
        # a panic of a library in Rust; a wish to stop goes on
        if type(error).__name__ != "PanicException":
            raise
    # raised out here, so that quoted cells are not even in the context of the exception
    raise DataError(f"{path.name}: {sentence}")
