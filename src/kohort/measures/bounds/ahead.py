"""On the first run on a machine, the kernels of the bound are compiled beside those of the search."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from kohort.common import stopping
from kohort.common.system import cores

_COMMAND = "from kohort.measures.bounds.ahead import compile_kernels; compile_kernels()"


def compile_kernels() -> None:
    """Compute the bound of a few records, for which every kernel of the bound is compiled, or found in the cache."""
    import numpy as np
    import polars as pl

    from kohort.codes.encode import encode
    from kohort.measures import MEASURES
    from kohort.measures.bounds.lower import lower_bound
    from kohort.policy import Policy

    policy = Policy.build(k=2, quasi_identifiers=["age", "sex"])
    codes = encode(pl.DataFrame({"age": [30, 31, 64, 70], "sex": ["f", "m", "f", "m"]}), policy)
    lower_bound(codes, MEASURES.make("ncp", {}), policy.privacy.k, np.random.default_rng(1), effort=1.0)


@cache
def is_first_run() -> bool:
    """Whether nothing was compiled when this process first asked."""
    from kohort.kernels.jit import is_compiled

    return not is_compiled()


def _is_worth_it() -> bool:
    from kohort.kernels.jit import CACHE

    return CACHE is not None and cores() > 1 and is_first_run()


@contextmanager
def compiled_ahead(*, wanted: bool) -> Iterator[None]:
    """Compile in a process of its own, as numba compiles one kernel at a time, if nothing is compiled yet.

    Nobody waits for it: what is in the cache when the bound is computed is taken from there.
    """
    if not wanted or not _is_worth_it():
        yield
        return
    with stopping.uninterrupted():
        # -P: nothing is imported from the folder that the command was called in.
        command, nothing = [sys.executable, "-P", "-c", _COMMAND], subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
    try:
        yield
    finally:
        with stopping.uninterrupted():
            process.kill()
            process.wait()
