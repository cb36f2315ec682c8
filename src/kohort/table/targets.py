"""Where files may be written: asked before any work, because the work may take hours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kohort.errors import DataError, PolicyError


def part_path(path: Path, name: str) -> Path:
    """Path of one table of a release in several: ``out.csv`` becomes ``out.NAME.csv``; of a single one, the path.

    Examples
    --------
    >>> part_path(Path("out.csv.gz"), "quasi").name
    'out.quasi.csv.gz'
    """
    if not name:
        return path
    packed = ".gz" if path.suffix == ".gz" else ""
    stem = path.with_name(path.name.removesuffix(packed))
    return stem.with_name(f"{stem.stem}.{name}{stem.suffix}{packed}")


def refuse_targets(targets: Mapping[str, Path], taken: Mapping[str, Path]) -> None:
    """Refuse to write where a file cannot be, or where another one is that is still needed.

    Parameters
    ----------
    targets : mapping
        What will be written: a name for messages, and the path.
    taken : mapping
        What must not be written over.
    """
    seen = {what: path.resolve() for what, path in taken.items()}
    for what, path in targets.items():
        if not path.name or path.is_dir():
            raise DataError(f"{path.name or path}: cannot be written (is a directory); give a file name.")
        if not path.parent.is_dir():
            raise DataError(f"{path}: cannot be written (No such file or directory); make the folder first.")
        for other, place in seen.items():
            if place == path.resolve():
                raise PolicyError(f"the {what} {path.name} is the {other} itself; give another path.")
        seen[what] = path.resolve()
