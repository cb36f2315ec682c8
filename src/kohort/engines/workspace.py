"""The private folder of a large run: beside the output, for the owner's eyes only, and gone at the end.

Parts of the table are kept there, so a folder must not outlive its process, whatever ends it. A process that is killed
outright cannot clean up after itself; a guard, which does nothing but wait for the end of a pipe, does it then.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kohort.errors import DataError
from kohort.table.safe import is_alive


@dataclass(frozen=True)
class Workspace:
    """Folders of a run: `raw` for parts of the table, `done` for parts of the release."""

    raw: Path
    done: Path

    def is_done(self, part: int) -> bool:
        """Whether a part was finished, now or in a run before."""
        return self.tally(part).exists()

    def released(self, part: int) -> Path:
        """Rows of a part that are shown, with the numbers of their original rows and their random keys."""
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
        Keep finished parts of the release when the run is cut off, for the next one to go on from.
    """
    _refuse_disk(output, needed)
    _remove_stale(output)
    kept = resumable(output)
    if not resume:
        shutil.rmtree(kept, ignore_errors=True)
    folder = output.with_name(f".{output.name}.kohort-work-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        folder.mkdir(mode=0o700)
        done = kept if resume else folder / "done"
        done.mkdir(mode=0o700, exist_ok=True)
        (folder / "raw").mkdir(mode=0o700)
    except OSError as error:
        raise DataError(f"{output.name}: cannot be written ({error.strerror}); check the folder.") from None
    guard = _guard(folder)
    try:
        yield Workspace(folder / "raw", done)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if guard is not None and guard.stdin is not None:
            guard.stdin.close()
            guard.wait()
    shutil.rmtree(kept, ignore_errors=True)


def resumable(output: Path) -> Path:
    """Folder of the parts that are kept for the next run."""
    return output.with_name(f".{output.name}.kohort-resume")


def files_facts(files: Sequence[Path]) -> list[list[Any]]:
    """What tells that files are those of the run before."""
    return [[str(path.absolute()), path.stat().st_size, path.stat().st_mtime_ns] for path in files]


def same_run(kept: Path, facts: dict[str, Any], drawn: dict[str, int]) -> dict[str, int]:
    """What was drawn by chance in the run that is resumed, or now, if none is.

    Parameters
    ----------
    kept : Path
        Folder of the finished parts.
    facts : dict
        What the runs must agree on.
    drawn : dict
        Seeds of this run, if it is the first.

    Raises
    ------
    DataError
        When the finished parts belong to another run.
    """
    note = kept / "run.json"
    if note.exists():
        known = json.loads(note.read_text(encoding="utf-8"))
        if known["facts"] != facts:
            raise DataError(
                "resume: the finished parts beside the output are of another table, policy or number of parts; "
                "run as before, or without --resume."
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


def _guard(folder: Path) -> subprocess.Popen[bytes] | None:
    """A process that removes the folder when this one ends, however it ends; None where there is no shell."""
    with suppress(OSError):
        return subprocess.Popen(
            ["/bin/sh", "-c", 'cat > /dev/null; rm -rf -- "$1"', "kohort-guard", str(folder.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return None


def _refuse_disk(output: Path, needed: int) -> None:
    try:
        free = shutil.disk_usage(output.parent).free
    except OSError as error:
        raise DataError(f"{output.name}: cannot be written ({error.strerror}); check the folder.") from None
    if free < needed:
        raise DataError(
            f"disk: about {needed / 1e9:.1f} GB are needed beside {output.name} for a while, and {free / 1e9:.1f} GB "
            "are free; free some, or write to another disk."
        )


def _remove_stale(output: Path) -> None:
    """Remove folders of processes that are gone, if their guards were killed, too."""
    pattern = re.compile(re.escape(f".{output.name}.kohort-work-") + r"(\d+)-[0-9a-f]{8}")
    with suppress(OSError):
        for other in output.parent.iterdir():
            match = pattern.fullmatch(other.name)
            if match and not is_alive(int(match[1])):
                shutil.rmtree(other, ignore_errors=True)
