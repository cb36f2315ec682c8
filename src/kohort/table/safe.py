"""Files that appear whole at their final paths, together, or not at all.

Everything is first written into private drafts beside the final paths. Then all of them get their names, in one short
step that no signal interrupts; if one cannot, the others go back. A process that is killed outright in the middle of
this step has left a note beside the first file of what was still to be renamed: the next run that writes there goes on
from it. Until then there may be a file without those that belong to it, and never one beside those of another.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kohort.common import stopping
from kohort.common.packed import SUFFIXES
from kohort.common.private import is_alive, owner, remove_remains, short
from kohort.common.system import HAS_OWNERS, NOFOLLOW, sync_file, user
from kohort.errors import DataError


@dataclass(frozen=True)
class _Target:
    """A final path and its draft."""

    path: Path
    draft: Path
    kept: Path
    """Where the old file waits until all is done."""
    private: bool = False

    @classmethod
    def of(cls, path: Path, *, private: bool = False) -> _Target:
        suffixes = "".join(path.suffixes[-2:]) if path.suffix in SUFFIXES else path.suffix
        stem = path.with_name(f".{short(path.name)}.kohort-{owner()}")
        # Readers know the kind of a file by the end of its name, if that is not too long.
        end = suffixes if len(os.fsencode(suffixes)) < 16 else ""
        return cls(path, stem.with_name(stem.name + end), stem.with_name(stem.name + ".old"), private)

    def make_ready(self) -> None:
        """Give the draft its rights, and have it on disk."""
        if not self.private:
            self.draft.chmod((0o777 if self.draft.is_dir() else 0o666) & ~_umask())
        if self.draft.is_file():
            sync_file(self.draft)

    def move_aside(self) -> None:
        """Take an old file away, but keep it."""
        if os.path.lexists(self.path):
            self.path.replace(self.kept)

    def link_aside(self) -> None:
        """Keep an old file under a second name, so that its place is never empty."""
        if os.path.lexists(self.path):
            try:
                os.link(self.path, self.kept, follow_symlinks=False)
            except OSError:  # a file system without links
                self.path.replace(self.kept)

    def appear(self) -> None:
        """Put the draft in its place."""
        if self.draft.is_dir():
            self.draft.rename(self.path)
        else:
            self.draft.replace(self.path)

    def go_back(self) -> None:
        """Leave the place as it was."""
        with suppress(OSError):
            if not os.path.lexists(self.draft):
                self.path.rename(self.draft)
            if os.path.lexists(self.kept):
                self.kept.replace(self.path)

    def discard(self) -> None:
        """Remove what is not at its final place."""
        if self.draft.is_dir():
            shutil.rmtree(self.draft, ignore_errors=True)
        with suppress(OSError):
            self.draft.unlink()
        with suppress(OSError):
            self.kept.unlink()


class Drafts:
    """Files that are being written, and appear together; see `together`."""

    def __init__(
        self,
        settled: tuple[Callable[[], None], ...],
        *,
        overwrite: bool = True,
        commit: Callable[[], None] | None = None,
    ) -> None:
        self._targets: list[_Target] = []
        self._settled = settled
        self._overwrite = overwrite
        self._commit = commit

    def file(self, path: Path, *, private: bool = False) -> Path:
        """Begin a file; the draft to write to. A private one stays for its owner's eyes only."""
        target = self._begun(path, private=private)
        with _written(path, "folder"):
            os.close(os.open(target.draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return target.draft

    def folder(self, path: Path) -> Path:
        """Begin a folder, whose place must be free; the draft to write into."""
        target = self._begun(path)
        with _written(path, "folder"):
            target.draft.mkdir(mode=0o700)
        return target.draft

    def text(self, path: Path, text: str, *, private: bool = False) -> None:
        """Write a small file."""
        draft = self.file(path, private=private)
        with _written(path):
            draft.write_text(text, encoding="utf-8")

    def appear(self) -> None:
        """Put all drafts in their places, or none."""
        stopping.heed()
        for target in self._targets:
            with _written(target.path):
                target.make_ready()
        with stopping.uninterrupted():
            if not self._overwrite:
                refuse_existing([target.path for target in self._targets])
            if self._commit is not None:
                self._commit()
            self._rename()
            for settled in self._settled:
                settled()

    def discard(self) -> None:
        """Remove what is not at its final place."""
        with stopping.uninterrupted():
            for target in self._targets:
                target.discard()

    def name_of(self, file: object) -> Path | None:
        """The final path of what an error is about; None if that is no draft."""
        of_drafts = [target.path for target in self._targets if file is None or str(file).startswith(str(target.draft))]
        return of_drafts[0] if of_drafts else None

    def _begun(self, path: Path, *, private: bool = False) -> _Target:
        recover(path.parent)
        for kind in ("kohort", "kohort-commit"):
            remove_remains(path.parent, f".{short(path.name)}.{kind}")
        # Noted before it is there: whatever comes in between, it is removed.
        self._targets.append(_Target.of(path, private=private))
        return self._targets[-1]

    def _rename(self) -> None:
        if not self._targets:
            return
        first, others = self._targets[0], self._targets[1:]
        note = _note(self._targets) if others else None
        current = first
        try:
            for current in others:
                current.move_aside()
            current = first
            first.link_aside()
            for current in self._targets:
                current.appear()
        except OSError as error:
            for target in self._targets:
                target.go_back()
            raise _fault(current.path, error, "disk") from None
        finally:
            if note is not None:
                note.unlink(missing_ok=True)
        for folder in {target.path.parent for target in self._targets}:
            _sync(folder)


@contextmanager
def together(
    *settled: Callable[[], None], overwrite: bool = True, commit: Callable[[], None] | None = None
) -> Iterator[Drafts]:
    """Files that appear together when the block ends well; whatever happens inside leaves all places as they were.

    Parameters
    ----------
    settled : callables
        Called as soon as all files are in their places, before any signal is answered.
    overwrite : bool
        Whether files that are there are written over.
    commit : callable, optional
        What must come to pass before the files appear, such as the end of a transaction; if it fails, they do not.

    Raises
    ------
    DataError
        When one of them cannot be written.
    """
    drafts = Drafts(settled, overwrite=overwrite, commit=commit)
    try:
        yield drafts
        drafts.appear()
    except OSError as error:
        path = drafts.name_of(error.filename)
        if path is None:
            raise
        raise _fault(path, error, "disk") from None
    finally:
        drafts.discard()


def refuse_existing(paths: Iterable[Path]) -> None:
    """Refuse to write over files that are there; what a run that was killed had verified and begun to rename is."""
    paths = list(paths)
    for folder in {path.parent for path in paths}:
        recover(folder)
    DataError.refuse(
        f"{path.name}: is already there; give another path, or --force (overwrite=True) to write over it."
        for path in paths
        if os.path.lexists(path)
    )


@contextmanager
def draft_of(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A private draft of one file; it takes its place when the block ends well."""
    with together() as drafts:
        yield drafts.file(path, private=private)


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a small file whole; a private one for its owner's eyes only."""
    with together() as drafts:
        drafts.text(path, text, private=private)


@contextmanager
def _written(path: Path, what: str = "disk") -> Iterator[None]:
    """Say which file cannot be written."""
    try:
        yield
    except OSError as error:
        raise _fault(path, error, what) from None


def _fault(path: Path, error: OSError, what: str) -> DataError:
    return DataError(f"{path.name}: cannot be written ({error.strerror or 'I/O error'}); check the {what}.")


def _umask() -> int:
    """The rights that new files do not get."""
    with suppress(OSError, StopIteration):
        facts = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
        return int(next(line for line in facts if line.startswith("Umask:")).split()[1], 8)
    # It can only be read by setting it, for all threads: to one that gives others nothing.
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _sync(folder: Path) -> None:
    """Have the names in a folder on disk; not every file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# -- a process that was killed while its drafts got their names ---------------------------------------

_NOTE = re.compile(r"\..*\.kohort-commit-(\d+)-([0-9a-f]+)-[0-9a-f]{8}", re.DOTALL)
_DRAFT = re.compile(r"\..*\.kohort-(\d+)-([0-9a-f]+)-[0-9a-f]{8}(\..*)?", re.DOTALL)


def _note(targets: list[_Target]) -> Path:
    """Write down what is about to be renamed."""
    first = targets[0].path
    moves = [[str(target.draft.absolute()), str(target.path.absolute())] for target in targets]
    note = first.with_name(f".{short(first.name)}.kohort-commit-{owner()}")
    with _written(first):
        draft = note.with_name(note.name + ".draft")
        try:
            descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(moves, file)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(note)
        finally:
            draft.unlink(missing_ok=True)
    return note


def recover(folder: Path) -> None:
    """Finish what processes that are gone have begun to rename: their drafts were whole and verified by then."""
    with suppress(OSError):
        for other in os.scandir(folder):
            match = _NOTE.fullmatch(other.name)
            if match and not is_alive(int(match[1]), int(match[2], 16)):
                for draft, target in _moves(Path(other.path), match[1]):
                    with suppress(OSError):
                        draft.rename(target) if draft.is_dir() else draft.replace(target)
                Path(other.path).unlink(missing_ok=True)


def _moves(note: Path, process: str) -> list[tuple[Path, Path]]:
    """What a note says, if this user wrote it and it is about drafts of that process."""
    try:
        descriptor = os.open(note, os.O_RDONLY | NOFOLLOW)
        with os.fdopen(descriptor, encoding="utf-8") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or (HAS_OWNERS and facts.st_uid != user()):
                return []
            moves = [(Path(draft), Path(target)) for draft, target in json.load(file)]
    except (OSError, ValueError, TypeError):
        return []
    return [
        (draft, target)
        for draft, target in moves
        if (match := _DRAFT.fullmatch(draft.name)) and match[1] == process and draft.parent == target.parent
        if os.path.lexists(draft)
    ]
