"""What a private place is: where cells of the table, keys and compiled code may lie.

A folder is private if it is a folder and no link, belongs to this user, gives nobody else any right, and if nobody
else can put another one in its place: every folder above it belongs to this user or to root, and either nobody else may
write to it, or it is sticky, like the one for temporary files. Folders are looked at through a descriptor, so that what
was looked at is what is there.

What a killed process leaves behind is found by its name, which has the process in it: the next run removes it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from kohort.common import stopping
from kohort.common.regular import regular
from kohort.common.system import DIRECTORY, HAS_OWNERS, NOFOLLOW, is_alone, is_running, user
from kohort.errors import DataError

_ELSEWHERE = "set TMPDIR to a folder of your own."
_LONGEST = 120
"""Bytes of a name that names of drafts repeat; there is room for 255 in all."""
SHORTEST = 16
"""Bytes that a key has at least."""
_SECRET = 1 << 16
"""Bytes that a key has at most."""


# -- folders -----------------------------------------------------------------------------------------


def fault_of_folder(path: Path, *, readable: bool = False) -> str | None:
    """Why a folder is not private; None if it is.

    Parameters
    ----------
    readable : bool
        Whether others may look into it, as long as they cannot change it: for what is no secret, such as code.
    """
    if not HAS_OWNERS:
        return None if path.is_dir() and not path.is_symlink() else "it is a link or no folder"
    try:
        descriptor = os.open(path, os.O_RDONLY | DIRECTORY | NOFOLLOW)
    except OSError as error:
        return "it is a link or no folder" if error.errno in (errno.ELOOP, errno.ENOTDIR) else str(error.strerror)
    try:
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if found.st_uid != user():
        return "it belongs to somebody else"
    if found.st_mode & (0o022 if readable else 0o077):
        return "others may change it" if readable else "others may enter it"
    return fault_of_parents(path)


def fault_of_parents(path: Path, keeper: int | None = None) -> str | None:
    """Why somebody else could put another file or folder in the place of this one; None if nobody can.

    Parameters
    ----------
    keeper : int, optional
        A further user who may own the folders above: the owner of what is there.
    """
    if not HAS_OWNERS:
        return None
    for parent in Path(os.path.realpath(path.parent), "x").parents:
        try:
            found = parent.lstat()
        except OSError as error:
            return f"{parent}: {error.strerror}"
        if found.st_uid not in _trusted() | {keeper}:
            return f"{parent} belongs to somebody else"
        if _others_may_write(found, parent) and not found.st_mode & stat.S_ISVTX:
            return f"others may change {parent}"
    return None


def _others_may_write(found: os.stat_result, path: Path) -> bool:
    """Whether users beside the owner, and root, have the right to write, by the mode or by a list of rights."""
    if not found.st_mode & 0o022:
        return False
    if found.st_mode & 0o002 or not is_alone(found.st_uid, found.st_gid):
        return True
    with suppress(OSError, AttributeError):
        return "system.posix_acl_access" in os.listxattr(path)
    return True


@cache
def _trusted() -> frozenset[int]:
    """Users who may own the folders above: this one and root.

    In a namespace of users that does not know the root of the system, its folders seem to belong to nobody.
    """
    trusted = {0, user()}
    with suppress(OSError, ValueError):
        known = Path("/proc/self/uid_map").read_text(encoding="utf-8").split()
        if known != ["0", "0", str(2**32 - 1)]:
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="utf-8")))
    return frozenset(trusted)


def make_folder(path: Path) -> None:
    """Make a private folder, or take one that is there and is private.

    Raises
    ------
    OSError
        When it cannot be made, or what is there is not private.
    """
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    fault = fault_of_folder(path)
    if fault:
        raise PermissionError(errno.EPERM, fault)


def temporary_folder() -> Path:
    """The folder for temporary files.

    Raises
    ------
    DataError
        When there is none that can be written to.
    """
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        raise DataError(f"temporary files: cannot be written, in no folder for such; {_ELSEWHERE}") from None


@contextmanager
def private_folder(beginning: str, above: Path | None = None, *, guarded: bool = True) -> Iterator[Path]:
    """A private folder that is gone at the end, whatever ends the process.

    Parameters
    ----------
    beginning : str
        How its name begins.
    above : Path, optional
        The folder that it is made in; that for temporary files when absent.
    guarded : bool
        Whether a process waits for the end of this one, and removes the folder then. Without it, the next run does.

    Raises
    ------
    DataError
        When it cannot be made, or somebody else could put another in its place.
    """
    guard = None
    above = above or temporary_folder()
    remove_remains(above, beginning)
    folder = above / f"{beginning}-{owner()}"
    try:
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise DataError(f"temporary files: cannot be written ({error.strerror}); {_ELSEWHERE}") from None
        guard = _guard(folder) if guarded else None
        if fault := fault_of_folder(folder):
            raise DataError(f"temporary files: would not be private, as {fault}; {_ELSEWHERE}")
        yield folder
    finally:
        with stopping.uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)
            if guard is not None and guard.stdin is not None:
                guard.stdin.close()
                guard.wait()


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


# -- names, and what dead processes leave ------------------------------------------------------------


def short(name: str) -> str:
    """A name as a part of longer ones: names of 255 bytes leave no room for more, so they are cut, with a hash."""
    import hashlib

    content = os.fsencode(name)
    if len(content) <= _LONGEST:
        return name
    # cut between letters
    return content[: _LONGEST - 20].decode(errors="ignore") + "-" + hashlib.sha256(content).hexdigest()[:16]


def owner() -> str:
    """A part of a name that says whose it is: this process, which no later one can be taken for, and chance."""
    return f"{os.getpid()}-{_start_of(os.getpid()):x}-{secrets.token_hex(4)}"


def remove_remains(folder: Path, beginning: str) -> None:
    """Remove files and folders that processes of this user, which are gone, have made under such names."""
    pattern = re.compile(re.escape(f"{beginning}-") + r"(\d+)-([0-9a-f]+)-[0-9a-f]{8}(\..*)?")
    with suppress(OSError):
        for other in os.scandir(folder):
            match = pattern.fullmatch(other.name)
            if match and not is_alive(int(match[1]), int(match[2], 16)):
                _remove(Path(other.path))


def is_alive(process: int, start: int) -> bool:
    """Whether there is such a process that was started at that time."""
    return is_running(process) and _start_of(process) == start


def _remove(path: Path) -> None:
    with suppress(OSError):
        if HAS_OWNERS and path.lstat().st_uid != user():
            return
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _start_of(process: int) -> int:
    """When a process was started, in ticks of the system's clock; 0 where that is not known."""
    with suppress(OSError, ValueError, IndexError):
        facts = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        # The second one is the name of the program in brackets, which may hold anything.
        return int(facts.rpartition(")")[2].split()[19])
    return 0


# -- files -------------------------------------------------------------------------------------------


def fault_of_file(descriptor: int, path: Path) -> str | None:
    """Why somebody else than its keeper could have written what is in an open file; None if nobody can.

    Its keeper is its owner: this user or root, or somebody in whose folder it is.
    """
    if not HAS_OWNERS:
        return None
    path = Path(os.path.realpath(path))
    found = os.fstat(descriptor)
    if found.st_uid not in _trusted() | {path.parent.stat().st_uid}:
        return "it belongs to somebody else"
    if _others_may_write(found, path):
        return "others may write to it"
    return fault_of_parents(path, found.st_uid)


def read_key(file: Path | None, variable: str) -> bytes:
    """A secret key from its file or, without one, from a variable of the environment; empty if that is not there.

    Raises
    ------
    OSError
        When the file cannot be read, anybody may write to it, or it is too long for a key.
    """
    content = os.fsencode(os.environ.get(variable, "")) if file is None else read_secret(regular(file))
    # Editors and shells end a text with a line end, which is no part of a key.
    return content.removesuffix(b"\n").removesuffix(b"\r")


def is_guessable(key: bytes) -> bool:
    """Whether a key is so short, or so empty, that it could be tried out."""
    return len(key) < SHORTEST or not key.strip()


def read_secret(path: Path) -> bytes:
    """Read a key, which nobody else may be able to replace.

    Whether others may read it is not judged: files of secrets in containers can be read by everybody inside.

    Raises
    ------
    OSError
        When it cannot be read, anybody may write to it, or it is too long for a key.
    """
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode) and HAS_OWNERS and found.st_mode & 0o002:
            raise PermissionError(errno.EPERM, "anybody may write to it")
        content = file.read(_SECRET + 1)
    if len(content) > _SECRET:
        raise OSError(errno.EFBIG, "it is too long for a key")
    return content
