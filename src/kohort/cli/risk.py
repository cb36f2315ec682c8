"""`kohort risk`: how easily people are found in a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kohort.cli.given import located, taken
from kohort.cli.shared import (
    JsonOption,
    QuietOption,
    SizeOption,
    app,
    console,
    print_hanging,
    print_json,
    progress_bar,
)
from kohort.cli.subject import QuasiOption, SensitiveOption

if TYPE_CHECKING:
    from kohort.reports.risk import Risk

_FILE = "An original, or a release made by any tool: a file, a folder, a pattern in quotes, or - for a pipe."
File = Annotated[Path, typer.Argument(metavar="FILE", parser=located, callback=taken, help=_FILE)]
_POLICY = "Policy file (TOML); without it and without --qi, what the verdict beside FILE says."
PolicyPath = Annotated[Path | None, typer.Option("--policy", "-p", help=_POLICY)]
_ORIGINAL = "The table that FILE was made of: figures before and after, and how many rows fit each record."
Original = Annotated[Path | None, typer.Option(metavar="DATA", parser=located, help=_ORIGINAL)]
_POPULATION = "A table of all people that FILE may be about, with its quasi-identifiers."
Population = Annotated[Path | None, typer.Option(metavar="DATA", parser=located, help=_POPULATION)]
_SIZE = "Without such a table: how many people FILE is a random sample of."
PopulationSize = Annotated[int | None, typer.Option(min=1, help=_SIZE)]
Fraction = Annotated[float | None, typer.Option(help="Or the share of these people that is in FILE, such as 0.01.")]


@app.command()
def risk(
    file: File,
    policy: PolicyPath = None,
    qi: QuasiOption = None,
    sensitive: SensitiveOption = None,
    k: SizeOption = None,
    original: Original = None,
    population: Population = None,
    population_size: PopulationSize = None,
    sampling_fraction: Fraction = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Report how easily people are found in a table, before or after it was anonymized.

    Figures of a release alone can be computed by everybody who has it. Those with --original or --population, and
    those of an original, may reveal what a release hides: keep them as confidential as the original.
    """
    import kohort

    with progress_bar(silent=json or quiet) as progress:
        found = kohort.risk(
            file,
            policy,
            quasi_identifiers=qi or (),
            sensitive=sensitive or (),
            k=k,
            original=original,
            population=population,
            population_size=population_size,
            sampling_fraction=sampling_fraction,
            progress=progress,
        )
    if json:
        print_json(found.to_dict())
    elif not quiet:
        print_risk(found)


def print_risk(found: Risk) -> None:
    """Print the main figures as a table, then sentences."""
    from rich.table import Table

    header, *lines = found.rows()
    table = Table(box=None, show_header=len(header) > 2, padding=(0, 1), pad_edge=True, header_style="bold")
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place else "left")
    for line in lines:
        table.add_row(*line)
    out = console()
    out.print(table)
    for sentence in found.sentences():
        print_hanging("- ", sentence)
