"""The files of a table that is to be audited: as given, those of a folder, or those of a pattern."""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from kohort.audit.read.formats.base import suffixes
from kohort.common.markers import HIVE, is_marker, is_summary
from kohort.common.regular import regular
from kohort.errors import DataError

Paths: TypeAlias = "str | Path | Sequence[str | Path]"
"""One file, a folder, a pattern, or a list of files."""

_SUFFIXES = (".parquet", ".pq", ".csv", ".tsv", ".txt", ".gz", ".zst", *suffixes())
_DRAFT = re.compile(r"\..*\.kohort-(work-|commit-)?[0-9]+-[0-9a-f]+.*")
"""What kohort has not finished writing."""


def listed_files(source: Paths, place: str) -> tuple[Path, ...]:
    """List the files of a table in the order of their rows.

    Of a folder these are the tables in it and in its folders, by their paths. Nothing else may be in it but known
    markers, such as ``_SUCCESS`` of Spark.

    Parameters
    ----------
    place : str
        What the table is called in a message.
    """
    if not isinstance(source, str | Path):
        files = [Path(path) for path in source]
        if not files:
            raise DataError(f"{place}: the list of files is empty; give at least one.")
        return tuple(files)
    path = Path(source)
    if path.is_dir():
        files = _tables_in(path, place)
        if not files:
            raise DataError(f"{place} {path.name}: cannot be opened (the folder has no table in it); check the path.")
    elif glob.has_magic(str(source)) and not path.exists():
        found = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 (a pattern may begin with a folder)
        files = sorted({file for one in found for file in (_tables_in(one, place) if one.is_dir() else [one])})
        if not files:
            raise DataError(f"{place} {path.name}: cannot be opened (no file has such a name); check the pattern.")
    else:
        files = [path]
    return tuple(files)


def _tables_in(folder: Path, place: str) -> list[Path]:
    """The tables in a folder; anything else in it is refused, as somebody else may read it."""
    tables: list[Path] = []
    faults: list[str] = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_dir() and not path.is_symlink():
            if "=" in path.name:
                faults.append(f"{place} {folder.name}: {HIVE}.")
            continue
        if place != "release" and (any(map(_DRAFT.fullmatch, parts)) or is_summary(path)):
            continue  # neither may be handed over: the one has records, the other the ends of columns
        if not any(part[0] in "._" for part in parts[:-1]) and is_marker(path):
            continue
        if path.is_file() and not any(part[0] in "._" for part in parts) and path.name.lower().endswith(_SUFFIXES):
            tables.append(path)
            continue
        faults.append(
            f"{place} {folder.name}: {'/'.join(parts)} is no table that can be read ({', '.join(_SUFFIXES)}; neither "
            "hidden nor a linked folder); take it out of the folder, or give the files by a pattern."
        )
    DataError.refuse(dict.fromkeys(faults))
    return tables


def states(files: Sequence[Path]) -> list[tuple[int, int]]:
    """Size and time of the last change of each file, by which it is seen that one was written to."""
    found = []
    for path in files:
        try:
            state = path.stat()
            found.append((state.st_size, state.st_mtime_ns))
        except OSError:
            found.append((-1, -1))
    return found


def files_hash(files: Sequence[Path]) -> str:
    """SHA-256 of a file's bytes; of several files, that of their hashes, a line for each.

    ``sha256sum FILE... | cut -c-64 | sha256sum`` gives the same.
    """
    hashes = [_file_hash(path) for path in files]
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256("".join(f"{one}\n" for one in hashes).encode()).hexdigest()


def _file_hash(path: Path) -> str:
    try:
        with regular(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise DataError(f"{path.name}: cannot be opened ({reason}); check the path.") from None
