"""What some systems have and others have not: the one place that knows of POSIX, and does without it on Windows."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
    import grp
    import pwd
except ImportError:  # Windows
    fcntl = grp = pwd = None  # type: ignore[assignment]

HAS_OWNERS = hasattr(os, "getuid")
"""Whether files have owners that are numbers, and rights for others."""
HAS_LOCKS = fcntl is not None
"""Whether files can be locked; where they cannot, one process at a time is up to the user."""
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
"""Flags of `os.open`; nothing where there are none."""


def user() -> int:
    """The number of the user; 0 where users have none."""
    return os.getuid() if HAS_OWNERS else 0


def is_alone(number: int, group: int) -> bool:
    """Whether nobody but the user is in a group: many systems give every user such a one, of the same name."""
    with suppress(KeyError, AttributeError):
        name, found = pwd.getpwuid(number).pw_name, grp.getgrgid(group)
        if found.gr_name != name or not set(found.gr_mem) <= {name}:
            return False
        # Members whose own group it is are not listed with it.
        return all(other.pw_uid == number for other in pwd.getpwall() if other.pw_gid == group)
    return False


def lock(descriptor: int, *, wait: bool = True) -> None:
    """Lock an open file for this process alone; an OSError if another has it, and nobody is to wait."""
    if HAS_LOCKS:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def is_running(process: int) -> bool:
    """Whether there is a process of that number; yes where asking would end it, as on Windows."""
    if not HAS_OWNERS:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def sync_file(path: Path) -> None:
    """Have a file on disk; Windows asks for the right to write to it."""
    with path.open("rb" if HAS_OWNERS else "r+b") as file:
        os.fsync(file.fileno())


def longest_name(folder: Path, otherwise: int) -> int:
    """Bytes of the longest name in a folder, if the system says so."""
    with suppress(OSError, ValueError, AttributeError):
        return os.pathconf(folder, "PC_NAME_MAX")
    return otherwise


def megabytes() -> int:
    """Memory of this machine; 4,096 where the system does not say."""
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return 4096


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
