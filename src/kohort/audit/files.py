"""The files of a table that is to be audited: as given, those of a folder, or those of a pattern."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from kohort.errors import DataError

Paths: TypeAlias = "str | Path | Sequence[str | Path]"
"""One file, a folder, a pattern, or a list of files."""

_SUFFIXES = (".parquet", ".pq", ".csv", ".tsv", ".txt", ".gz")


def listed_files(source: Paths, place: str) -> tuple[Path, ...]:
    """List the files of a table in the order of their rows.

    Of a folder these are the tables in it and in its folders, by their paths; names that begin with ``.`` or ``_``
    are none.

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
        files = _tables_in(path)
        if not files:
            raise DataError(f"{place} {path.name}: cannot be opened (the folder has no table in it); check the path.")
    elif glob.has_magic(str(source)) and not path.exists():
        found = map(Path, glob.glob(str(source), recursive=True))  # noqa: PTH207 (a pattern may begin with a folder)
        files = sorted({file for one in found for file in (_tables_in(one) if one.is_dir() else [one])})
        if not files:
            raise DataError(f"{place} {path.name}: cannot be opened (no file has such a name); check the pattern.")
    else:
        files = [path]
    return tuple(files)


def _tables_in(folder: Path) -> list[Path]:
    paths = (path for path in folder.rglob("*") if path.name.lower().endswith(_SUFFIXES) and path.is_file())
    return sorted(path for path in paths if not any(part[0] in "._" for part in path.relative_to(folder).parts))


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
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise DataError(f"{path.name}: cannot be opened ({reason}); check the path.") from None
