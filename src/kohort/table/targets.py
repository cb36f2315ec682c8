"""Where files may be written: asked before any work, because the work may take hours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kohort.errors import DataError, PolicyError


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
