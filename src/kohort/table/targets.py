"""Where files may be written: asked before any work, because the work may take hours.

No file is written over one that is read, nor over another that is written, by whatever name: a link, a hard link, or a
name in other letters that some file systems take for the same.
"""

from __future__ import annotations

import glob
import os
import stat
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kohort.common.packed import SUFFIXES
from kohort.common.system import longest_name
from kohort.errors import DataError, PolicyError
from kohort.table.databases import SqlTable, is_url
from kohort.table.files import files_of, is_folder

if TYPE_CHECKING:
    from kohort.policy import Policy
    from kohort.privacy import PrivacyModel

_LONGEST = 255
"""Bytes of a name, where the file system does not say."""
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a device", stat.S_IFCHR: "a device"}


def table_path(path: Path, name: str) -> Path:
    """Path of one table of a release in several: ``out.csv`` becomes ``out.NAME.csv``; of a single one, the path.

    Examples
    --------
    >>> table_path(Path("out.csv.gz"), "quasi").name
    'out.quasi.csv.gz'
    """
    if not name or not path.name:
        return path
    packed = path.suffix if path.suffix in SUFFIXES else ""
    stem = path.with_name(path.name.removesuffix(packed))
    return stem.with_name(f"{stem.stem}.{name}{stem.suffix}{packed}")


def verdict_path(output: Path) -> Path:
    """Where the public verdict goes if nobody says where: beside the release.

    Examples
    --------
    >>> verdict_path(Path("out.csv")).name
    'out.csv.verdict.json'
    """
    _refuse_nameless(output)
    return output.with_name(f"{output.name}.verdict.json")


def read_by(table: Any, policy: Policy, models: Iterable[PrivacyModel]) -> dict[str, Path | Sequence[Path]]:
    """Everything that is read when a table is released: its files, and those that the policy and its models name."""
    from kohort.privacy import PopulationModel
    from kohort.privacy.models.item_constraints import ItemConstraints

    populations = {
        f"population of {model.name!r}": policy.folder / model.population
        for model in models
        if isinstance(model, PopulationModel)
    }
    constraints = {
        f"constraints {number + 1} of {model.name!r}": policy.folder / path
        for model in models
        if isinstance(model, ItemConstraints)
        for number, path in enumerate(model.files)
    }
    return {**input_of(table), **policy.files, **populations, **constraints}


def input_of(table: Any) -> dict[str, Path | Sequence[Path]]:
    """The input by its name for messages; nothing for a table in memory, or of a server."""
    if isinstance(table, SqlTable) or is_url(table):
        files = (table if isinstance(table, SqlTable) else SqlTable(table)).files
        return {"database of the input": files} if files else {}
    if not isinstance(table, str | Path):
        return {}
    path = Path(table)
    if not is_folder(path) and (os.path.lexists(path) or not glob.has_magic(str(table))):
        return {"input": path}
    try:
        # The folder or pattern itself comes first: what is written there would be read the next time.
        return {"input": [path, *files_of(table)]}
    except (DataError, OSError):  # said when the table is read
        return {"input": [path]}


def refuse_targets(targets: Mapping[str, Path], taken: Mapping[str, Path | Sequence[Path]]) -> None:
    """Refuse to write where a file cannot be, or where another one is that is still needed.

    Parameters
    ----------
    targets : mapping
        What will be written: a name for messages, and the path.
    taken : mapping
        What is read, and must not be written over: a file, or several; a folder or pattern stands for all its files,
        also for those that are not there yet.
    """
    for path in targets.values():
        _refuse_place(path)
    seen = [(what, place) for what, paths in taken.items() for place in _places(paths)]
    for what, path in targets.items():
        target = _Place.of(path)
        if same := next((other for other, place in seen if place.is_same(target)), None):
            raise PolicyError(f"the {what} {path.name} is the {same} itself; give another path.")
        if above := next((other for other, place in seen if place.holds(target)), None):
            raise PolicyError(
                f"the {what} {path.name} would be read as one of the files of the {above} the next time; "
                "write it to another folder."
            )
        seen.append((what, target))


def refuse_folder(path: Path) -> None:
    """Refuse a path where no folder of files can be."""
    if os.path.lexists(path) and path.name:
        raise DataError(f"{path.name}: is already there, and a folder is not written over; remove it first.")
    if path.suffix in SUFFIXES:
        raise DataError(f"{path.name}: Spark writes a folder of files; give a name that ends in .csv or .parquet.")


@dataclass(frozen=True)
class _Place:
    """A path, and what it leads to."""

    path: Path
    file: os.stat_result | None
    """What is there; None for nothing."""
    folder: os.stat_result | None
    """The folder that it is in."""
    name: str
    """In the letters that all file systems take for the same."""

    @classmethod
    def of(cls, path: Path) -> _Place:
        real = Path(os.path.realpath(path))
        name = unicodedata.normalize("NFC", unicodedata.normalize("NFD", real.name).casefold())
        return cls(real, _stat(real), _stat(real.parent), name)

    def is_same(self, other: _Place) -> bool:
        """Whether both are one file, or would be."""
        if self.file is not None and other.file is not None and os.path.samestat(self.file, other.file):
            return True
        if self.folder is None or other.folder is None:
            return False
        return os.path.samestat(self.folder, other.folder) and self.name == other.name

    def holds(self, other: _Place) -> bool:
        """Whether this is a folder or a pattern, and the other path is in it."""
        if self.file is not None and stat.S_ISDIR(self.file.st_mode):
            above = (_stat(parent) for parent in other.path.parents)
            return any(found is not None and os.path.samestat(found, self.file) for found in above)
        if self.file is None and glob.has_magic(str(self.path)):
            return _fits(other.path.parts, self.path.parts)
        return False


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path fits a pattern: ``**`` stands for any number of folders, all else for one name."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[start:], pattern[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _places(paths: Path | Sequence[Path]) -> Iterable[_Place]:
    return map(_Place.of, [paths] if isinstance(paths, Path) else paths)


def _stat(path: Path) -> os.stat_result | None:
    with suppress(OSError, ValueError):
        return path.stat()
    return None


def _refuse_nameless(path: Path) -> None:
    if not path.name:
        raise DataError(f"{path}: cannot be written (is a directory); give a file name.")


def _refuse_place(path: Path) -> None:
    """Refuse a path where no file can be, and one where something is that is no file."""
    _refuse_nameless(path)
    if "\0" in str(path):
        raise DataError(f"{path.name}: cannot be written (a name cannot hold a NUL); give another file name.")
    try:
        if not path.parent.is_dir():
            raise DataError(f"{path}: cannot be written (No such file or directory); make the folder first.")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise DataError(f"{path.name}: cannot be written (no access to its folder); give another path.")
        _refuse_length(path)
        found = path.lstat() if os.path.lexists(path) else None
        if found is not None and stat.S_ISLNK(found.st_mode):
            found = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path.name}: cannot be written (it is a link to nothing); give another path.") from None
    except OSError as error:
        raise DataError(f"{path.name}: cannot be written ({error.strerror}); give another path.") from None
    if found is None or stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISDIR(found.st_mode):
        raise DataError(f"{path.name or path}: cannot be written (is a directory); give a file name.")
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no file")
    raise DataError(f"{path.name}: cannot be written (it is {kind}); give another path.")


def _refuse_length(path: Path) -> None:
    """Refuse a name that the file system has no room for; its own words come late, and about another name."""
    longest = longest_name(path.parent, _LONGEST)
    if len(os.fsencode(path.name)) > longest:
        start = f"{path.name[:20]}..."
        raise DataError(f"{start}: cannot be written (its name has more than {longest} bytes); give a shorter one.")
