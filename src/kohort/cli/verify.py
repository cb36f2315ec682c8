"""`kohort verify`: whether a file keeps the promise of its policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kohort.cli.shared import JsonOption, MemoryOption, PolicyOption, QuietOption, app, print_json, print_verdict


@app.command()
def verify(
    release: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="The release: CSV or Parquet, of any tool; a file, a folder, or a pattern in quotes."
        ),
    ],
    policy: PolicyOption,
    original: Annotated[
        Path | None, typer.Option(help="The table that it was made of: a file, a folder, or a pattern.")
    ] = None,
    sensitive_table: Annotated[
        Path | None, typer.Option(help="The second table of a release in buckets: sensitive values with counts.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="LEDGER", help="Check it against the earlier releases in this ledger, too.")
    ] = None,
    k: Annotated[int | None, typer.Option(help="Smallest class size, instead of the policy's.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Privacy models must hold for who knows all other sensitive columns, too.")
    ] = False,
    memory: MemoryOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Tell whether a file keeps the promise of its policy.

    Works on the output of any tool. Exit code 1 if it does not; the reason is one sentence.
    """
    import kohort
    from kohort.table.sizes import memory_of

    chosen = kohort.Policy.load(policy)
    if k is not None:
        chosen = chosen.with_changes("privacy", k=k)
    verdict = kohort.verify(
        release,
        chosen,
        original=original,
        sensitive_table=sensitive_table,
        strict=strict,
        against=against,
        memory=memory_of(memory) if memory is not None else None,
    )
    if json:
        print_json(verdict.to_dict())
    elif not quiet:
        print_verdict(verdict)
    raise typer.Exit(0 if verdict.passed else 1)
