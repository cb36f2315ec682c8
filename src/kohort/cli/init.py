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

    Roles, types and hierarchies, each with its reason. A column that is not recognised is dropped
    and marked UNSURE: nothing is published silently.
    """
    from kohort.errors import PolicyError
    from kohort.reports.propose import propose
    from kohort.table.safe import write_text
    from kohort.table.targets import input_of, refuse_targets

    refuse_targets({"policy": output}, input_of(data))
    if output.exists() and not force:
        raise PolicyError(f"{output.name} is already there; give another --output, or --force to write over it.")
    text = propose(data, k=k)
    write_text(output, text)
    if not quiet:
        unsure = text.count("  # UNSURE: ")
        typer.echo(
            f"wrote {output}: read every line" + (f", and decide what is marked UNSURE ({unsure})." if unsure else ".")
        )
        typer.echo(f"then: kohort anonymize {data} -p {output} -o release.csv")
