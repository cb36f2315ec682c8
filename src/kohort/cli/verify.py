"""`kohort verify`: whether a file keeps the promise of its policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kohort.cli.given import taken
from kohort.cli.shared import (
    JsonOption,
    MemoryOption,
    PolicyOption,
    QuietOption,
    SizeOption,
    app,
    form_of,
    policy_of,
    print_json,
    print_verdict,
)


@app.command()
def verify(
    release: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            callback=taken,
            help="The release, made by any tool: a file, a folder, a pattern in quotes, or - for a pipe.",
        ),
    ],
    policy: PolicyOption,
    original: Annotated[Path | None, typer.Option(help="The original table: a file, a folder, or a pattern.")] = None,
    row_order: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --original: the row of it that each row of OUT comes from, counted from 0; one number in each "
            "line, or Parquet with one column. As secret as the original.",
        ),
    ] = None,
    sensitive_table: Annotated[
        Path | None, typer.Option(help="The second published table of a release in buckets (anatomy).")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="LEDGER", help="Also check it against the earlier releases in this ledger.")
    ] = None,
    k: SizeOption = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Privacy models must also hold against someone who knows all other sensitive columns."
        ),
    ] = False,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="OUT was made with this option.")] = False,
    bounds: Annotated[bool, typer.Option("--bounds", help="OUT was made with this option.")] = False,
    neutralise_formulas: Annotated[
        bool, typer.Option("--neutralise-formulas", help="OUT was made with this option.")
    ] = False,
    memory: MemoryOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check whether a file keeps the promise of its policy.

    Works on the output of any tool. Exit code 1 if it does not, with the reason in one sentence.
    """
    import kohort
    from kohort.table.sizes import memory_of

    verdict = kohort.verify(
        release,
        policy_of(policy, privacy={"k": k}, output=form_of(keep_order, bounds, neutralise_formulas)),
        original=original,
        row_order=row_order,
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
