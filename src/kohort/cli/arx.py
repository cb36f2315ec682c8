"""`kohort arx import | export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kohort.cli.shared import DataArgument, PolicyOption, SizeOption, app, called_as, console

arx = typer.Typer(help="Import projects of ARX; export tables in its layout.", no_args_is_help=True)
app.add_typer(arx, name="arx")

FolderOption = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder.")]


@arx.command("import")
def import_(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="A project of ARX: NAME.deid.")],
    output: FolderOption,
    k: SizeOption = None,
) -> None:
    """Make a policy, its hierarchies and a table from a project of ARX.

    With --k, privacy models that kohort does not have are left out, and named.
    """
    from kohort.reports.arx import import_project

    found = import_project(project, output, k=k)
    out = console()
    for sentence in found.left:
        out.print(f"note: {sentence}")
    out.print(f"in {output}/: policy.toml, data.csv and hierarchies. Next:")
    out.print(f"  {called_as()} anonymize {output}/data.csv -p {output}/policy.toml -o release.csv")


@arx.command()
def export(data: DataArgument, policy: PolicyOption, output: FolderOption) -> None:
    """Write DATA and the hierarchies of its policy as ARX reads them."""
    from kohort.reports.arx import export_layout

    without = export_layout(data, policy, output)
    out = console()
    out.print(f"in {output}/: data.csv and hierarchies.")
    if without:
        out.print(f"without a hierarchy, which ARX needs: {', '.join(without)}; see {called_as()} hierarchy.")
