"""`kohort init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kohort.cli.shared import DataArgument, QuietOption, app


@app.command()
def init(
    data: DataArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Policy file to write.")] = Path("policy.toml"),
    k: Annotated[int, typer.Option(help="Smallest size of an equivalence class.", min=2)] = 10,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing policy.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Propose a commented policy for DATA.

    Roles, types and hierarchies, each with its reason; the hierarchies are files in a folder beside
    the policy. A column that is not recognised is dropped
    and marked UNSURE: nothing is published silently.
    """
    from kohort.errors import PolicyError
    from kohort.reports.propose import propose
    from kohort.table.safe import together
    from kohort.table.targets import input_of, refuse_targets

    refuse_targets({"policy": output}, input_of(data))
    if output.exists() and not force:
        raise PolicyError(f"{output.name} is already there; give another --output, or --force to write over it.")
    folder = f"{output.stem}-hierarchies"
    proposed = propose(data, k=k, folder=folder)
    there = [file for file in proposed.files if (output.parent / file).exists()]
    if there and not force:
        raise PolicyError(f"{there[0]} is already there; give another --output, or --force to write over it.")
    if proposed.files:
        (output.parent / folder).mkdir(parents=True, exist_ok=True)
    with together() as files:
        for file, text in proposed.files.items():
            files.text(output.parent / file, text)
        files.text(output, proposed.text)
    if not quiet:
        unsure = proposed.text.count("  # UNSURE: ")
        trees = f" and {len(proposed.files)} hierarchies in {folder}" if proposed.files else ""
        typer.echo(
            f"wrote {output}{trees}: read every line"
            + (f", and decide what is marked UNSURE ({unsure})." if unsure else ".")
        )
        typer.echo(f"then: kohort anonymize {data} -p {output} -o release.csv")
