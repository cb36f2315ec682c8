"""Recording a release: what was published is in the ledger, whatever happens in between.

The entry is written as pending before the file appears, and as published after. A crash in between leaves a
pending entry, which counts as published: it is never the other way round.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from kohort.audit.ledger.file import read_ledger, read_or_new, write_ledger
from kohort.audit.ledger.format import Entry, Ledger, People, Shown
from kohort.audit.ledger.persons import PersonKey
from kohort.common import stopping
from kohort.common.private import short
from kohort.common.system import HAS_LOCKS, NOFOLLOW, NONBLOCK, user
from kohort.common.system import lock as lock_file
from kohort.errors import DataError


class Recording:
    """The ledger while one release is recorded; nobody else writes it meanwhile.

    Attributes
    ----------
    ledger : Ledger
        The releases before this one.
    persons : PersonKey or None
        How persons are recognised, if they are to be recorded.
    """

    def __init__(self, path: Path, ledger: Ledger, persons: PersonKey | None) -> None:
        self.ledger = ledger
        self.persons = persons
        self._path = path
        self._was_there = path.exists()
        self._pending: Entry | None = None

    def announce(self, shown: Shown, people: People | None, hashes: Mapping[str, str]) -> None:
        """Write down, as pending, what is about to be published; its file must not be there before."""
        self._pending = Entry.sealed(
            self.ledger.last_seal,
            shown,
            people,
            date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            release=hashes["release"],
            policy=hashes["policy"],
        )
        write_ledger(self._path, self.ledger.with_last(self._pending))

    def settle(self) -> None:
        """Write down that the file has appeared."""
        # The release is out: if this cannot be written it stays pending, which counts as much.
        with suppress(DataError):
            if self._pending is not None:
                write_ledger(self._path, self.ledger.with_last(self._pending.published()))
                self._pending = None

    def withdraw(self, release: Path) -> None:
        """Take back what was announced, unless its file has appeared all the same."""
        if self._pending is None:
            return
        # Again, what cannot be written stays pending.
        with suppress(DataError, OSError):
            if _is_there(release, self._pending.release):
                self.settle()
            elif self._was_there:
                write_ledger(self._path, self.ledger)
            else:
                self._path.unlink()


@contextmanager
def recording(path: Path, release: Path, persons: PersonKey | None = None) -> Iterator[Recording]:
    """Record the release that appears at its path when the inner block ends.

    Parameters
    ----------
    path : Path
        The ledger; a new one if there is no file.
    release : Path
        Where the release will appear.
    """
    # A link must go on leading to the ledger, instead of being replaced by it.
    path = path.resolve()
    with _alone(path):
        record = Recording(path, read_or_new(path), persons)
        try:
            yield record
        except BaseException:
            record.withdraw(release)
            raise
        record.settle()


def drop_pending(path: Path) -> int:
    """Take releases out of a ledger that were never published after all; the number of them.

    Raises
    ------
    DataError
        When the ledger cannot be read or written.
    """
    path = path.resolve()
    with _alone(path):
        before = read_ledger(path)
        after = before.without_pending()
        number = len(before.releases) - len(after.releases)
        if number:
            write_ledger(path, after)
        return number


def _is_there(path: Path, digest: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == digest


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other process records in this ledger; the system ends the wait if that one dies.

    Libraries for this (filelock) take the same lock of the system, but wait by asking again and again, leave the file
    behind, and take one that somebody else has made, who could hold it for ever.
    """
    if not HAS_LOCKS:
        yield
        return
    lock = path.with_name(f".{short(path.name)}.lock")
    descriptor, is_held = -1, False
    try:
        while not is_held:
            if descriptor >= 0:
                os.close(descriptor)
            descriptor = _opened(lock, path)
            lock_file(descriptor)
            # Whoever held it before may have removed it: then this is a lock on nothing.
            is_held = lock.exists() and os.path.samestat(os.fstat(descriptor), lock.stat())
        yield
    finally:
        # Left open, it would make this very process wait for itself the next time.
        with stopping.uninterrupted():
            if descriptor >= 0:
                # Stopped while it waited, it must not take the lock away from whoever holds it.
                with suppress(OSError):
                    lock_file(descriptor, wait=False)
                    if is_held or os.path.samestat(os.fstat(descriptor), lock.stat()):
                        lock.unlink()
                os.close(descriptor)


def _opened(lock: Path, path: Path) -> int:
    """The lock of a ledger, which nobody else has made: they could hold it for ever."""
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_RDWR | NOFOLLOW | NONBLOCK, 0o600)
    except OSError as error:
        raise DataError(f"ledger {path.name}: cannot be written ({error.strerror}); check the folder.") from None
    if os.fstat(descriptor).st_uid in (user(), path.stat().st_uid if path.exists() else user()):
        return descriptor
    os.close(descriptor)
    raise DataError(f"ledger {path.name}: its lock {lock.name} belongs to somebody else; check the folder.")
