"""`kohort compile`: kernels compiled ahead, for images and clusters."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from kohort.cli.shared import QuietOption, app, console, progress_bar


@app.command("compile")
def compile_kernels(
    every: Annotated[bool, typer.Option("--all", help="Kernels of all algorithms, not only of the default.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Compile the numerical code now, so that no later run has to.

    For images of containers and clusters: the compiled code is kept in the cache of kernels, a folder that is
    printed.
    """
    import kohort
    from kohort.algorithms import ALGORITHMS
    from kohort.datasets import patients
    from kohort.errors import DataError, PolicyError
    from kohort.kernels.ahead import BOUND, SEARCH, compiled_ahead
    from kohort.kernels.jit import CACHE, CACHE_VARIABLE

    if CACHE is None:
        raise DataError(f"there is no private folder for compiled kernels; set {CACHE_VARIABLE} to one.")
    table = patients(400, seed=1).select("birth_date", "sex", "diagnosis")
    policy = kohort.Policy.build(k=3, quasi_identifiers=["birth_date", "sex"], sensitive=["diagnosis"], seed=1)
    diversity = {"model": "distinct-l-diversity", "column": "diagnosis", "l": 2}
    default = [policy, policy.with_changes("privacy", models=(diversity,))]
    others = [policy.with_changes("algorithm", name=name) for name in ALGORITHMS] if every else []
    with compiled_ahead([SEARCH, BOUND]), progress_bar(silent=quiet) as progress:
        for one in default:
            _ = kohort.anonymize(table, one, progress=progress).bound
        for one in others:
            with suppress(PolicyError):  # an algorithm that needs more than this policy says
                kohort.anonymize(table, one, progress=progress)
    if not quiet:
        console().print(f"compiled kernels are in {CACHE}", soft_wrap=True, highlight=False)
