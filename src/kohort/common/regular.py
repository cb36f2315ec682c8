"""Files that can be read: from the beginning to an end, and more than once."""

from __future__ import annotations

import errno
import stat
from pathlib import Path


def regular(path: Path) -> Path:
    """The path itself, unless it leads to a pipe, a socket or a device, which may never end or answer.

    Raises
    ------
    OSError
        Then; or if there is nothing, as opening it would.

    Examples
    --------
    >>> regular(Path("/dev/null"))
    Traceback (most recent call last):
    OSError: [Errno 22] a pipe, socket or device; save it as a file
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "a pipe, socket or device; save it as a file")
    return path
