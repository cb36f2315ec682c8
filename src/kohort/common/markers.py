"""Files without records that Spark, Hadoop and others leave in the folder of a table, known by name and content."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

HIVE = (
    "folders inside of it are named NAME=VALUE, which many readers take for a column; write that column into the "
    "files, and give the folders other names"
)
"""What is wrong with a folder of files that are parted by the values of a column."""


def _is_checksum(path: Path) -> bool:
    """Four bytes for each 512 of the file that it is about, after a head of eight."""
    about = path.with_name(path.name[1 : -len(".crc")])
    blocks = -(-about.stat().st_size // 512) if about.is_file() else -1
    return _begins(path, b"crc\0") and path.stat().st_size == 8 + 4 * blocks


def _begins(path: Path, mark: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def _is_empty(path: Path) -> bool:
    return path.stat().st_size == 0


def _is_list_of_files(path: Path) -> bool:
    """The names of files that a transaction added and removed, which stand in the folder or did so."""
    return path.stat().st_size < 1 << 20 and _LIST.fullmatch(path.read_bytes()) is not None


_NAMES = rb'\[\s*(?:"[\w.=%/-]+"\s*(?:,\s*"[\w.=%/-]+"\s*)*)?\]'
_LIST = re.compile(rb'\s*\{\s*"added"\s*:\s*' + _NAMES + rb'\s*,\s*"removed"\s*:\s*' + _NAMES + rb"\s*\}\s*")
_MARKERS: dict[str, Callable[[Path], bool]] = {
    r"_SUCCESS|_started_[0-9]+": _is_empty,
    r"_committed_[0-9]+": _is_list_of_files,
    r"\..*\.crc": _is_checksum,
    r"\.DS_Store": lambda path: _begins(path, b"\0\0\0\1Bud1"),
}
SUMMARY = re.compile("_metadata|_common_metadata")
"""Columns of all files of a folder, with their least and greatest values: no records, but not nothing either."""


def is_marker(path: Path) -> bool:
    """Whether a file is a marker and nothing else: a table under the name of one is none.

    Raises
    ------
    OSError
        When it cannot be read.
    """
    return path.is_file() and any(re.fullmatch(name, path.name) and holds(path) for name, holds in _MARKERS.items())


def is_summary(path: Path) -> bool:
    """Whether a file summarizes the Parquet files of its folder."""
    return path.is_file() and SUMMARY.fullmatch(path.name) is not None and _begins(path, b"PAR1")
