"""On the first run on a machine, the kernels that take longest are compiled in processes beside it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from kohort.common import stopping
from kohort.common.system import cores

SEARCH = "kohort.search.ahead"
BOUND = "kohort.measures.bounds.ahead"
"""Modules with a function `compile_kernels`, which calls kernels as a run will call them."""
_COMMAND = "from {} import compile_kernels; compile_kernels()"
_started: dict[str, subprocess.Popen[bytes]] = {}


@cache
def is_first_run() -> bool:
    """Whether nothing was compiled when this process first asked."""
    from kohort.kernels.jit import is_compiled

    return not is_compiled()


def _is_worth_it() -> bool:
    from kohort.kernels.jit import CACHE

    return CACHE is not None and cores() > 1 and is_first_run()


@contextmanager
def compiled_ahead(modules: Sequence[str]) -> Iterator[None]:
    """Compile kernels in processes of their own, as numba compiles one at a time, if nothing is compiled yet."""
    mine: dict[str, subprocess.Popen[bytes]] = {}
    nothing = subprocess.DEVNULL
    try:
        for module in modules if modules and _is_worth_it() else ():
            with stopping.uninterrupted():
                # -P: nothing is imported from the folder that the command was called in.
                command = [sys.executable, "-P", "-c", _COMMAND.format(module)]
                mine[module] = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
        _started.update(mine)
        yield
    finally:
        with stopping.uninterrupted():
            for module, process in mine.items():
                _started.pop(module, None)
                process.kill()
                process.wait()


def await_kernels(module: str) -> None:
    """Wait until kernels that are being compiled can be taken from the cache; whatever is missing is compiled here."""
    if process := _started.get(module):
        process.wait()
