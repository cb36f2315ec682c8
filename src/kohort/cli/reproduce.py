"""`kohort reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kohort.cli.shared import app, console

if TYPE_CHECKING:
    from kohort.reports.reproduce.base import Run


@app.command()
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(metavar="[PAPER]", help="Name of a paper: cb, gccg, k-member, pac, two-level; or all."),
    ] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="A minute for each: fewer values and seeds.")] = False,
    paper_sizes: Annotated[
        bool,
        typer.Option("--paper-sizes", help="As many records as the paper has, where the usual run has fewer: hours."),
    ] = False,
    folder: Annotated[Path, typer.Option(help="Where pages, data and figures go.")] = Path("reproduce"),
) -> None:
    """Repeat the experiments of a paper, and report which of its claims hold.

    Writes a page, the data behind it and, with kohort[reproduce], figures. What was measured before is not
    measured again.
    """
    from kohort.errors import PolicyError
    from kohort.reports.reproduce import PAPERS
    from kohort.reports.reproduce import reproduce as run

    if quick and paper_sizes:
        raise PolicyError("--quick and --paper-sizes exclude each other; give one of them, or none.")
    out = console()
    for name in PAPERS if paper == "all" else [paper]:
        out.print(f"{name}", style="bold")
        size = "quick" if quick else "paper" if paper_sizes else "full"
        verdicts = run(PAPERS.make(name, {}), folder, size=size, progress=_tell)  # type: ignore[arg-type]
        for claim, verdict in verdicts.items():
            out.print(f"  {claim:<28}{verdict.outcome}", highlight=False)
        out.print(f"  page: {folder / name}.md")


def _tell(done: int, of: int, run: Run) -> None:
    typer.echo(f"  {done + 1} of {of}: {run.algorithm} on {run.table}, {run.records:,} records, k = {run.k}", err=True)
