"""`kohort init`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from kohort.cli.given import table_of
from kohort.cli.shared import DataArgument, FromTable, Query, QuietOption, app, called_as, console

if TYPE_CHECKING:
    from kohort.policy.sections import Role
    from kohort.reports.propose import ProposedPolicy

ROLES = ("identifier", "quasi", "sensitive", "insensitive")


@app.command()
def init(
    data: DataArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Policy file to write.")] = Path("policy.toml"),
    k: Annotated[int, typer.Option(help="Smallest size of an equivalence class.", min=2)] = 10,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing policy.")] = False,
    sheet: Annotated[str | None, typer.Option(help="Excel: the sheet that holds the table.")] = None,
    skip_rows: Annotated[
        int | None, typer.Option(help="CSV and Excel: lines before the header, such as titles.", min=0)
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="CSV: encoding, such as cp1252 or utf-16.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="CSV: character between cells, such as ';'.")] = None,
    quote: Annotated[str | None, typer.Option(help="CSV: quote character; '' for none.")] = None,
    table: FromTable = None,
    query: Query = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask for the role of each column that is unsure, and for k.")
    ] = False,
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

    source = table_of(data, table, query)
    refuse_targets({"policy": output}, input_of(source))
    if output.exists() and not force:
        raise PolicyError(f"{output.name} is already there; give another --output, or --force to write over it.")
    folder = f"{output.stem}-hierarchies"
    given = {"sheet": sheet, "skip_rows": skip_rows, "encoding": encoding, "delimiter": delimiter, "quote": quote}
    settings = {key: value for key, value in given.items() if value is not None}
    proposed = propose(source, k=k, folder=folder, input=settings)
    if interactive:
        k, roles = _asked(proposed, k)
        proposed = propose(source, k=k, folder=folder, roles=roles, input=settings)
    there = [file for file in proposed.files if (output.parent / file).exists()]
    if there and not force:
        raise PolicyError(f"{there[0]} is already there; give another --output, or --force to write over it.")
    for file in there:
        refuse_targets({"hierarchy": output.parent / file}, input_of(source))
    if proposed.files:
        (output.parent / folder).mkdir(parents=True, exist_ok=True)
    with together() as files:
        for file, text in proposed.files.items():
            files.text(output.parent / file, text)
        files.text(output, proposed.text)
    if not quiet:
        unsure = proposed.text.count("  # UNSURE: ")
        trees = f" and {len(proposed.files)} hierarchies in {folder}" if proposed.files else ""
        out = console()
        out.print(
            f"wrote {output}{trees}: read every line"
            + (f", and decide what is marked UNSURE ({unsure})." if unsure else ".")
        )
        named = f" --table {table}" if table else " --query ..." if query else ""
        out.print(f"then: {called_as()} anonymize {data}{named} -p {output} -o release.csv")


def _asked(proposed: ProposedPolicy, k: int) -> tuple[int, dict[str, Role]]:
    """Ask the few questions that matter: k, and the roles of columns in doubt; Enter takes what is proposed."""
    chosen = 0
    while chosen < 2:
        chosen = typer.prompt("k: how many records must look alike, 2 or more?", default=k, type=int)
    roles: dict[str, Role] = {}
    for number, (name, why) in enumerate(proposed.doubts.items(), 1):
        typer.echo(f"\n{number} of {len(proposed.doubts)}: column {name!r}: {why}")
        if proposed.policy.columns[name].role != "sensitive":
            typer.echo("  published as it is if sensitive or insensitive: for what nobody outside can know")
        found = proposed.policy.columns[name].role
        answer = ""
        while answer not in ROLES:
            answer = typer.prompt(f"  role ({', '.join(ROLES)})", default=found)
        if answer != found:
            roles[name] = cast("Role", answer)
    return chosen, roles
