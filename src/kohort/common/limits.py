"""Limits of the system that end a command: said as what they are, since they are no bugs."""

from __future__ import annotations

import errno
import os
import re
import threading
from contextlib import suppress

from kohort.errors import NO_ROOM, EngineError, KohortError

_FILES = "the system allows this process no more open files; raise the limit (ulimit -n)."
_THREADS = "the system lets this user start no more threads or processes; raise the limit (ulimit -u)."
_DISK = "the disk is full, or a file would be larger than is allowed; free some room, or raise the limit (ulimit -f)."
_MEMORY = "memory does not suffice; give --memory, a smaller table, or more memory."
_ADDRESSES = "the system allows this process {} MB of addresses, and libraries need {}; raise the limit (ulimit -v)."
_LEAST_ADDRESSES = 1536
"""In MB. With less, libraries fail while they are loaded: as one that is not there, or without an end."""
_RIGHTS = "a file or folder may not be used ({}); check its rights."

_BY_NUMBER = {
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.EAGAIN: _THREADS,
    errno.ENOSPC: _DISK,
    errno.EDQUOT: _DISK,
    errno.EFBIG: _DISK,
    errno.ENOMEM: _MEMORY,
    errno.ENAMETOOLONG: "the name of a file is too long; give a shorter one.",
    **{number: _RIGHTS.format(os.strerror(number)) for number in (errno.EACCES, errno.EPERM, errno.EROFS)},
}
_BY_WORDS = (
    (re.compile(r"Too many open files|os error (23|24)\b"), _FILES),
    (re.compile(r"can't start new thread|Resource temporarily unavailable|os error 11\b"), _THREADS),
    (NO_ROOM, _DISK),
    (re.compile(r"[Cc]annot allocate memory|os error 12\b|bad_alloc|failed to map segment"), _MEMORY),
)


def limit_of(error: BaseException) -> KohortError | None:
    """The limit that an error is about; None if it is about none.

    Libraries have errors of their own, so their words are looked at, and those of what they were raised from. Nothing
    of them is passed on.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError):
            return EngineError(_MEMORY)
        if isinstance(seen, OSError) and seen.errno in _BY_NUMBER:
            return EngineError(_BY_NUMBER[seen.errno])
        if isinstance(seen, Exception):
            words = str(seen)
            for pattern, sentence in _BY_WORDS:
                if pattern.search(words):
                    return EngineError(sentence)
        seen = seen.__cause__ or seen.__context__
    return None


def refuse_limits() -> None:
    """Say which limit of the system is too low for the libraries, before they meet it: most would crash."""
    _refuse_few_addresses()
    _refuse_few_threads()


def _refuse_few_addresses() -> None:
    try:
        import resource
    except ImportError:  # as on Windows, which has no such limits
        return
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        allowed, _ = resource.getrlimit(kind)
        if allowed != resource.RLIM_INFINITY and allowed >> 20 < _LEAST_ADDRESSES:
            raise EngineError(_ADDRESSES.format(allowed >> 20, _LEAST_ADDRESSES))


def _refuse_few_threads() -> None:
    """Try out whether as many threads can be started as the libraries will; they would panic if not."""
    wanted = 3 * (os.cpu_count() or 1) + 4
    end = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(wanted):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:
        raise EngineError(_THREADS) from None
    finally:
        end.set()
        with suppress(RuntimeError):
            for thread in started:
                thread.join()
