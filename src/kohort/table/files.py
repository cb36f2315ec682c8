"""The files of a table: one file, a folder of files, or a pattern."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from kohort.common.markers import HIVE, is_marker, is_summary
from kohort.errors import DataError
from kohort.table.formats import FORMATS

FileKind: TypeAlias = str
"""`csv`, `parquet`, or a name in `kohort.table.formats.FORMATS`."""
CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
PARQUET_SUFFIXES = (".parquet", ".pq")
_DRAFT = re.compile(r"\..*\.kohort-(work-|commit-)?\d+-[0-9a-f]+.*")
"""Names of files and folders that kohort has not finished."""


def known_suffixes() -> str:
    """How names of files end that kohort reads."""
    return ", ".join((*CSV_SUFFIXES, *PARQUET_SUFFIXES, *(end for one in FORMATS.values() for end in one.suffixes)))


def known_kind(path: Path) -> FileKind | None:
    """The kind of a file by its name: ``csv``, ``parquet``, another one; None for a name that says none."""
    name = path.name.lower()
    if name.endswith(PARQUET_SUFFIXES):
        return "parquet"
    if name.endswith(CSV_SUFFIXES):
        return "csv"
    return next((kind for kind, one in FORMATS.items() if name.endswith(one.suffixes)), None)


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; not, if there cannot be one of that name."""
    with suppress(OSError):
        return path.is_dir()
    return False


def files_of(source: str | Path) -> tuple[Path, ...]:
    """List the files of a table, in the order in which they are read.

    Parameters
    ----------
    source : path
        A file; a folder, of which all files are taken, those of its folders, too, and in which nothing else may be
        but markers such as ``_SUCCESS``; or a pattern with ``*``, ``?``, ``[...]`` or ``**``.

    Raises
    ------
    DataError
        When there is no such file, files are of several kinds, or a folder has what cannot be read.

    Examples
    --------
    >>> files_of("no such folder/*.parquet")
    Traceback (most recent call last):
    kohort.errors.DataError: *.parquet: no file has such a name; check the pattern.
    """
    path = Path(source)
    if is_folder(path):
        files = _inside(path)
        if not files:
            raise DataError(
                f"{path.name}: the folder has no file that ends in one of {known_suffixes()}; check the path."
            )
    elif glob.has_magic(str(source)) and not os.path.lexists(path):
        found = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 (a pattern may begin with a folder)
        files = sorted({file for one in found for file in (_inside(one) if one.is_dir() else [one])})
        if not files:
            raise DataError(f"{path.name}: no file has such a name; check the pattern.")
    else:
        files = [path]
    _refuse_kinds(path, files)
    return tuple(files)


def _inside(folder: Path) -> list[Path]:
    """The files of a folder by their paths; whatever is in it is part of the table, a known marker, or refused."""
    files: list[Path] = []
    faults: list[str] = []
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.is_dir() and not path.is_symlink():
            if "=" in path.name:
                faults.append(f"{folder.name}: {HIVE}.")
            continue
        if any(map(_DRAFT.fullmatch, inner.parts)) or is_marker(path) or is_summary(path):
            continue
        fault = _strange(path, inner)
        if fault:
            faults.append(f"{folder.name}: {inner} {fault}; take it out of the folder, or give the files by a pattern.")
        else:
            files.append(path)
    DataError.refuse(dict.fromkeys(faults))
    return files


def _strange(path: Path, inner: Path) -> str | None:
    """Why something in a folder is no file of the table; None for one that is."""
    if path.is_dir():
        return "is a link to a folder"
    if not path.is_file():
        return "is no file"
    if any(part.startswith((".", "_")) for part in inner.parts):
        return "is hidden, or no data by its name"
    return None if known_kind(path) else f"is of no kind that kohort reads ({known_suffixes()})"


def _refuse_kinds(path: Path, files: Iterable[Path]) -> None:
    """Refuse files of which it is not known how to read them, or that are read in different ways."""
    kinds = {file: known_kind(file) for file in files}
    DataError.refuse(
        f"{file.name}: its kind is not known by its name; kohort reads {known_suffixes()}."
        for file, kind in kinds.items()
        if kind is None
    )
    if len(set(kinds.values())) > 1:
        raise DataError(f"{path.name}: has files of several kinds; give those of one kind, such as by a pattern.")
