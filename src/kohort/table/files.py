"""The files of a table: one file, a folder of files, or a pattern."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from kohort.errors import DataError

FileKind: TypeAlias = Literal["csv", "parquet"]
CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
_KNOWN = ", ".join(CSV_SUFFIXES + PARQUET_SUFFIXES)


def known_kind(path: Path) -> FileKind | None:
    """The kind of a file by its name: ``csv``, ``parquet``, or None for a name that says neither."""
    name = path.name.lower()
    if name.endswith(PARQUET_SUFFIXES):
        return "parquet"
    return "csv" if name.endswith(CSV_SUFFIXES) else None


def files_of(source: str | Path) -> tuple[Path, ...]:
    """List the files of a table, in the order in which they are read.

    Parameters
    ----------
    source : path
        A file; a folder, of which all CSV or all Parquet files are taken, those of its folders, too, but none whose
        name, or whose folder's name, begins with ``.`` or ``_``; or a pattern with ``*``, ``?``, ``[...]`` or ``**``.

    Raises
    ------
    DataError
        When there is no such file, or files of both kinds.

    Examples
    --------
    >>> files_of("no such folder/*.parquet")
    Traceback (most recent call last):
    kohort.errors.DataError: *.parquet: no file has such a name; check the pattern.
    """
    path = Path(source)
    if path.is_dir():
        files = _inside(path)
        if not files:
            raise DataError(f"{path.name}: the folder has no file that ends in one of {_KNOWN}; check the path.")
    elif not path.exists() and glob.has_magic(str(source)):
        found = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 (a pattern may begin with a folder)
        files = sorted({file for one in found for file in (_inside(one) if one.is_dir() else [one])})
        if not files:
            raise DataError(f"{path.name}: no file has such a name; check the pattern.")
    else:
        files = [path]
    _refuse_kinds(path, files)
    return tuple(files)


def _inside(folder: Path) -> list[Path]:
    """The files of a folder by their paths; a name with ``.`` or ``_`` in front is no part of the table."""
    return sorted(
        file
        for file in folder.rglob("*")
        if known_kind(file) and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        if file.is_file()
    )


def _refuse_kinds(path: Path, files: Iterable[Path]) -> None:
    """Refuse files of which it is not known how to read them, or that are read in different ways."""
    kinds = {file: known_kind(file) for file in files}
    strange = [file for file, kind in kinds.items() if kind is None]
    if strange:
        raise DataError(
            *(f"{file.name}: its kind is not known by its name; kohort reads {_KNOWN}." for file in strange)
        )
    if len(set(kinds.values())) > 1:
        raise DataError(f"{path.name}: has CSV files and Parquet files; give those of one kind, such as by a pattern.")
