"""The door to numba: where compiled kernels are kept, and the `kernel` decorator.

Compiled code is cached per user, outside the package, so a read-only installation starts as
fast as any other. The cache holds code that is executed, so a directory that somebody else
could write to is never used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numba.extending import register_jitable

from kohort.common.private import fault_of_folder
from kohort.common.system import HAS_OWNERS, user

CACHE_VARIABLE = "NUMBA_CACHE_DIR"
KEPT = 30 * 24 * 3600.0
"""Seconds after which kernels of another version are deleted."""


def _private_directory(path: Path) -> bool:
    """Make a directory if needed; whether it is ours alone to write, and nobody can put another in its place."""
    try:
        for folder in (*reversed(path.parents), path):
            if not folder.exists():
                folder.mkdir(mode=0o700)
        if fault_of_folder(path, readable=True):
            return False
        probe = path / f".write-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def _version() -> str:
    """Changes with the source of any kernel: numba looks at a kernel's own file, and not at those it calls."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def cache_directory() -> Path | None:
    """Where compiled kernels are kept; None when no private place can be written."""
    places: list[Path] = []
    with suppress(RuntimeError):  # a user without a home
        places.append(Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "kohort" / "kernels")
    with suppress(OSError):  # nowhere is room for temporary files
        places += [Path(tempfile.gettempdir()) / f"kohort-{user()}" / "kernels"] if HAS_OWNERS else []
    if given := os.environ.get(CACHE_VARIABLE):
        places.insert(0, Path(given))
    place = next((place for place in places if _private_directory(place.absolute() / _version())), None)
    if place is None:
        return None
    if not given or place != Path(given):
        _forget_old(place)
    return place / _version()


def _forget_old(place: Path) -> None:
    """Delete what earlier versions have compiled and nobody has used for long."""
    with suppress(OSError):
        for folder in place.iterdir():
            if folder.is_dir() and folder.name != _version() and time.time() - folder.stat().st_mtime > KEPT:
                shutil.rmtree(folder, ignore_errors=True)


CACHE = cache_directory()
if CACHE is not None:
    numba.config.CACHE_DIR = str(CACHE)  # type: ignore[attr-defined]


class _Kept(FunctionCache):
    """Compiled code on disk, loaded without what only compiling needs.

    numba first learns how to compile all of Python and NumPy, which takes a tenth of a short run, and then finds that
    there is nothing to compile. Here it learns that as soon as something is not in the cache; only what compiled code
    allocates its arrays with is made ready before.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        target_context.refresh = lambda: None
        try:
            return super().load_overload(sig, target_context)
        finally:
            vars(target_context).pop("refresh", None)


def _kept(compiled: Any) -> Any:
    """Let a compiled function be found in the cache."""
    if CACHE is not None:
        compiled._cache = _Kept(compiled.py_func)
    return compiled


def kernel(function: Any) -> Any:
    """Compile a function that Python calls; without the lock of the interpreter, so that threads can share the work."""
    return _kept(numba.njit(function, nogil=True))


def inlined(function: Any) -> Any:
    """Compile a few lines of an innermost loop: to pass a tuple of arrays to a function costs more than they do."""
    return _kept(numba.njit(function, nogil=True, inline="always"))


# For what only other kernels call: without the wrappers that Python would call it by, it is compiled in half the time.
inner = register_jitable(no_cfunc_wrapper=True)


def is_compiled() -> bool:
    """Whether compiled kernels of this version are in the cache, so that a start is quick."""
    if CACHE is None or not CACHE.is_dir():
        return False
    return any(CACHE.rglob("*.nbi"))


class Compiled(event.TimingListener):
    """How long kernels were compiled, or loaded from the cache."""

    @property
    def seconds(self) -> float:
        """So far."""
        return float(self.duration) if self.done else 0.0


@contextmanager
def compiling() -> Iterator[Compiled]:
    """Time what is spent on compiling and loading kernels in a block, in whatever thread."""
    with event.install_listener("numba:compiler_lock", Compiled()) as listener:
        yield listener
