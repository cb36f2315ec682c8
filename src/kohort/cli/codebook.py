"""`kohort codebook`: what the columns of a release are, for whoever gets it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kohort.cli.shared import JsonOption, app, console, print_hanging, print_json
from kohort.cli.subject import ReleaseArgument


@app.command()
def codebook(
    release: ReleaseArgument,
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="Policy file (TOML); without it, the verdict beside OUT.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where it goes: .csv or .json.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a codebook that is there.")] = False,
    json: JsonOption = False,
) -> None:
    """Describe each column of OUT: role, type, levels, and what its published forms mean.

    It follows from OUT and its policy alone and lists no value of fewer than k rows, so it may be handed over with OUT.
    """
    import kohort
    from kohort.errors import DataError
    from kohort.table.safe import refuse_existing, together
    from kohort.table.targets import input_of, refuse_targets

    kind = "" if output is None else output.suffix.lower()
    if kind not in ("", ".csv", ".json"):
        raise DataError("--output: a codebook is CSV or JSON; name it .csv or .json.")
    if output is not None:
        refuse_targets({"codebook": output}, input_of(release) | ({"policy": policy} if policy else {}))
        if not force:
            refuse_existing([output])
    book = kohort.codebook(release, policy)
    if output is not None:
        with together(overwrite=force) as files:
            files.text(output, book.to_csv() if kind == ".csv" else book.to_json())
    if json:
        print_json(book.to_dict())
    elif output is None:
        for one in book.columns:
            print_hanging(f"{one.column} ({one.role}, {one.type}): ", f"{one.meaning}.")
    else:
        console().print(f"written to {output}")
