"""`kohort verify` and `kohort measure`: what is true of a file that is already there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from kohort.cli.shared import (
    JsonOption,
    MemoryOption,
    PolicyOption,
    QuietOption,
    app,
    console,
    print_json,
    print_loss,
    print_verdict,
)

ReleaseArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The release: CSV or Parquet, of any tool.")]
FilesArgument = Annotated[
    Path,
    typer.Argument(
        metavar="OUT", help="The release: CSV or Parquet, of any tool; a file, a folder, or a pattern in quotes."
    ),
]


@app.command()
def verify(
    release: FilesArgument,
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


@app.command()
def measure(
    release: ReleaseArgument,
    policy: PolicyOption,
    original: Annotated[
        Path | None,
        typer.Option(help="The table that it was made of; without it, figures that anybody can compute."),
    ] = None,
    name: Annotated[str | None, typer.Option("--measure", help="Loss measure, instead of the policy's.")] = None,
    bound_effort: Annotated[
        float | None, typer.Option(help="Effort for the lower bound on the loss, about seconds; 0 for none.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Report what a file lost, column by column, and what its classes are like.

    With --original the figures are exact, and may tell what the file hides: keep them as you keep the original.
    """
    import kohort
    from kohort.reports.measure import bound_of, measure_and_describe

    chosen = kohort.Policy.load(policy)
    if bound_effort is not None:
        chosen = chosen.with_changes("algorithm", bound_effort=bound_effort)
    loss, figures = measure_and_describe(release, original, chosen, name=name)
    bound = None if original is None else bound_of(original, chosen, name=name)
    if json:
        print_json(asdict(loss) | {"bound": bound, "figures": figures})
    elif not quiet:
        print_loss(loss, bound)
        print_figures(figures)


def print_figures(figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the figures, one line for each."""
    width = max(map(len, figures), default=0)
    for name, values in figures.items():
        told = ", ".join(f"{what} {_rounded(value)}" for what, value in values.items())
        console().print(f"  {name:<{width}}  {told}")


def _rounded(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_rounded, value))}]"
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"
