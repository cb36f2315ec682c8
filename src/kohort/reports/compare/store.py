"""Results that are kept, so that a comparison that was stopped goes on where it was.

Each finished run is a file of its own in a private folder, which appears whole or not at all. A note says of which
table, policy and version they are; results of others are refused.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kohort.common.private import make_folder
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.reports.compare.run import Result, Run
from kohort.table.safe import write_text

NOTE = "comparison.json"
_WAY_OUT = "name another folder, or remove this one"


@dataclass(frozen=True)
class Store:
    """A folder of results."""

    folder: Path
    note: Mapping[str, Any]
    """`facts` about table, policy and version; the `seed` that was drawn; and the `grid` that was asked for last."""

    @classmethod
    def opened(cls, folder: Path, facts: Mapping[str, str], key: str) -> Store:
        """A new folder, or one whose results are of the same table, policy and version.

        Parameters
        ----------
        facts : mapping
            What results depend on, each as a hash or version.
        key : str
            Of the hashes, if the folder is new.

        Raises
        ------
        DataError
            When it cannot be used, is not private, or belongs to something else.
        """
        known = noted(folder)
        if known is None:
            return cls(folder, {"key": key, "facts": dict(facts), "seed": secrets.randbits(62), "grid": None})
        changed = [what for what, fact in facts.items() if known["facts"].get(what) != fact]
        if changed:
            what = " and ".join(changed)
            raise DataError(f"resume: the results in {folder.name} are of another {what}; {_WAY_OUT}.")
        return cls(folder, known)

    def kept_for(self, grid: Mapping[str, Any]) -> Store:
        """The same, with a note of what is asked for now."""
        store = Store(self.folder, {**self.note, "grid": dict(grid)})
        write_text(self.folder / NOTE, json.dumps(store.note, indent=2), private=True)
        return store

    def get(self, run: Run) -> Result | None:
        """The result of a run, if it is finished."""
        try:
            found: Result = json.loads(self._path(run).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found

    def put(self, run: Run, result: Result) -> None:
        """Keep a result."""
        write_text(self._path(run), json.dumps(result), private=True)

    def _path(self, run: Run) -> Path:
        return self.folder / f"{run.key}.json"


def noted(folder: Path) -> dict[str, Any] | None:
    """What the note of a private folder says; None if it is new, and made now."""
    try:
        make_folder(folder)
        names = [one.name for one in folder.iterdir()]
        if NOTE in names:
            note: dict[str, Any] = json.loads((folder / NOTE).read_text(encoding="utf-8"))
            return note
    except OSError as error:
        raise DataError(
            f"resume: {folder.name}: cannot be used ({error.strerror}); name a new folder, which is made for you."
        ) from None
    except ValueError:
        raise DataError(f"resume: the note in {folder.name} is damaged; {_WAY_OUT}.") from None
    if [name for name in names if not name.startswith(".")]:
        raise DataError(f"resume: {folder.name} holds other files; name a new folder, which is made for you.")
    return None


def hash_of_files(policy: Policy, files: Mapping[str, Path | Sequence[Path]], key: str) -> str:
    """Hash of a policy and of the files that it names: hierarchies, populations."""
    found = hashlib.sha256(key.encode() + json.dumps(policy.to_dict(), sort_keys=True, default=str).encode())
    for name, path in sorted(files.items()):
        if isinstance(path, Path) and name not in ("policy", "pseudonym key") and path.is_file():
            found.update(name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()
