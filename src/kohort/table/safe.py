"""A file appears whole at its final path, or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kohort.errors import DataError


@contextmanager
def draft_of(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A private draft beside the final path; it takes its place when the block ends well.

    The final file has the permissions of any new file, or stays private. Whatever happens inside, also
    Ctrl-C, removes the draft and leaves the old file. A process that is killed cannot clean up after
    itself, so drafts of dead processes are removed by the next.
    """
    _remove_stale_drafts(path)
    suffixes = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    draft = path.with_name(f".{path.name}.kohort-{os.getpid()}-{secrets.token_hex(4)}{suffixes}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise DataError(f"{path.name}: cannot be written ({error.strerror}); check the folder.") from None
    try:
        yield draft
        _settle(draft, path, private=private)
    except OSError as error:
        raise DataError(f"{path.name}: cannot be written ({error.strerror or 'I/O error'}); check the disk.") from None
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def draft_folder_of(path: Path) -> Iterator[Path]:
    """A private folder beside the final path; it takes its place, which must be free, when the block ends well."""
    _remove_stale_drafts(path)
    draft = path.with_name(f".{path.name}.kohort-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        draft.mkdir(mode=0o700)
    except OSError as error:
        raise DataError(f"{path.name}: cannot be written ({error.strerror}); check the folder.") from None
    try:
        yield draft
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o777 & ~umask)
        draft.rename(path)
    except OSError as error:
        raise DataError(f"{path.name}: cannot be written ({error.strerror or 'I/O error'}); check the disk.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a small file whole; a private one for its owner's eyes only."""
    with draft_of(path, private=private) as draft:
        draft.write_text(text, encoding="utf-8")


def _settle(draft: Path, path: Path, *, private: bool) -> None:
    """Put the draft in its place, on disk before it gets its name."""
    if not private:
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)
    with suppress(OSError):  # not every file system lets a folder be synced
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _remove_stale_drafts(path: Path) -> None:
    pattern = re.compile(re.escape(f".{path.name}.kohort-") + r"(\d+)-[0-9a-f]{8}")
    with suppress(OSError):
        for other in path.parent.iterdir():
            match = pattern.match(other.name)
            if match and not is_alive(int(match[1])):
                shutil.rmtree(other) if other.is_dir() else other.unlink(missing_ok=True)


def is_alive(process: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
