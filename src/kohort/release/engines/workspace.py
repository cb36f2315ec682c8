"""The private folder of a large run: beside the output, for the owner's eyes only, and gone at the end.

Partitions of the table are kept there, so a folder must not outlive its process, whatever ends it: see
`kohort.common.private`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kohort.common.private import fault_of_parents, make_folder, private_folder, short, temporary_folder
from kohort.errors import NO_ROOM, DataError, KohortError


@dataclass(frozen=True)
class Workspace:
    """Folders of a run: `raw` for partitions of the table, `done` for partitions of the release."""

    raw: Path
    done: Path

    def is_done(self, part: int) -> bool:
        """Whether a partition was finished, now or in a run before."""
        return self.tally(part).exists()

    def released(self, part: int) -> Path:
        """Rows of a partition that are shown, with the numbers of their original rows and their random keys."""
        return self.done / f"{part}.released.parquet"

    def tally(self, part: int) -> Path:
        """What was counted; written last."""
        return self.done / f"{part}.tally.json"


@contextmanager
def workspace(output: Path, needed: int, *, resume: bool) -> Iterator[Workspace]:
    """A private folder beside the output.

    Parameters
    ----------
    needed : int
        Bytes that it may take.
    resume : bool
        Keep finished partitions of the release when the run is cut off, for the next one to go on from.
    """
    kept = resumable(output)
    if resume:
        make_resumable(output)
    else:
        forget(output)
    above = output.parent.absolute()
    if fault_of_parents(above / output.name):
        # Somebody else could put another folder in the place of ours.
        above = temporary_folder()
    _refuse_disk(above, output, needed)
    with private_folder(f".{short(output.name)}.kohort-work", above) as folder:
        done = kept if resume else folder / "done"
        try:
            done.mkdir(mode=0o700, exist_ok=True)
            (folder / "raw").mkdir(mode=0o700)
        except OSError as error:
            raise DataError(f"{output.name}: cannot be written ({error.strerror}); check the folder.") from None
        with _room():
            yield Workspace(folder / "raw", done)


@contextmanager
def _room() -> Iterator[None]:
    """Say that the disk is full; each library that writes has words and errors of its own for it."""
    try:
        yield
    except Exception as error:
        # One with a name comes from the release itself, which is said by its name.
        is_named = isinstance(error, OSError) and error.filename is not None
        if is_named or isinstance(error, KohortError) or not NO_ROOM.search(str(error)):
            raise
    else:
        return
    # raised out here, as the words of others may quote cells
    raise DataError("the disk is full, and partitions of the table are written to it; free some room.")


def resumable(output: Path) -> Path:
    """Folder of the partitions that are kept for the next run."""
    return output.with_name(f".{short(output.name)}.kohort-resume")


def forget(output: Path) -> None:
    """Remove the partitions that were kept, if there are any."""
    shutil.rmtree(resumable(output), ignore_errors=True)


def make_resumable(output: Path) -> None:
    """Make the folder of the partitions that are kept, or take that of a run before, if it is private.

    Raises
    ------
    DataError
        When it cannot be made, or somebody else has made it or could look into it.
    """
    kept = resumable(output)
    try:
        make_folder(kept)
    except OSError as error:
        raise DataError(
            f"resume: finished partitions cannot be kept in {kept.name} beside the output ({error.strerror}); "
            "write to a folder of your own, or leave --resume out."
        ) from None


def files_facts(files: Sequence[Path]) -> list[list[Any]]:
    """What shows that files are those of the run before."""
    return [[str(path.absolute()), path.stat().st_size, path.stat().st_mtime_ns] for path in files]


def same_run(kept: Path, facts: dict[str, Any], drawn: dict[str, int]) -> dict[str, int]:
    """What was drawn by chance in the run that is resumed, or now, if none is.

    Parameters
    ----------
    kept : Path
        Folder of the finished partitions.
    facts : dict
        What the runs must agree on.
    drawn : dict
        Seeds of this run, if it is the first.

    Raises
    ------
    DataError
        When the finished partitions belong to another run.
    """
    note = kept / "run.json"
    if note.exists():
        known = json.loads(note.read_text(encoding="utf-8"))
        if known["facts"] != facts:
            raise DataError(
                "resume: the finished partitions beside the output are of another table, policy or number of "
                "partitions; run as before, or without --resume."
            )
        seeds: dict[str, int] = known["drawn"]
        return seeds
    write_note(note, {"facts": facts, "drawn": drawn})
    return drawn


def write_note(path: Path, content: Any) -> None:
    """Write a small file whole."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.replace(path)


def _refuse_disk(folder: Path, output: Path, needed: int) -> None:
    where = f"beside {output.name}" if folder == output.parent.absolute() else f"in {folder}"
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise DataError(f"{output.name}: cannot be written ({error.strerror}); check the folder.") from None
    if free < needed:
        raise DataError(
            f"disk: about {needed / 1e9:.1f} GB are needed {where} for a while, and {free / 1e9:.1f} GB "
            "are free; free some, or write to another disk."
        )
