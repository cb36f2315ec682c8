"""`kohort measure`: what a file lost, and what its classes are like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kohort.cli.given import located
from kohort.cli.shared import (
    BoundOption,
    JsonOption,
    QuietOption,
    SizeOption,
    app,
    console,
    print_hanging,
    print_json,
    print_loss,
    progress_bar,
)
from kohort.cli.subject import PromiseOption, QuasiOption, ReleaseArgument, SensitiveOption

_ORIGINAL = "The original table; without it, only figures that anybody can compute."
Original = Annotated[Path | None, typer.Option(metavar="DATA", parser=located, help=_ORIGINAL)]
Name = Annotated[str | None, typer.Option("--measure", help="Loss measure, instead of the policy's.")]
_EPSILON = "Distance of sensitive values, 0 to 1, for which delta is reported; 0.1."
Epsilon = Annotated[float | None, typer.Option(help=_EPSILON)]
_TARGET = "With --original: a column that models learn to predict; default: sensitive ones. Give it again for others."
Targets = Annotated[list[str] | None, typer.Option("--target", metavar="COLUMN", help=_TARGET)]
Queries = Annotated[int, typer.Option(min=1, help="With --original: number of random counting questions.")]
Seed = Annotated[int, typer.Option(min=0, help="Of questions, samples and held-out records.")]


@app.command()
def measure(
    release: ReleaseArgument,
    policy: PromiseOption = None,
    qi: QuasiOption = None,
    sensitive: SensitiveOption = None,
    k: SizeOption = None,
    original: Original = None,
    name: Name = None,
    bound_effort: BoundOption = None,
    epsilon: Epsilon = None,
    target: Targets = None,
    queries: Queries = 1000,
    seed: Seed = 1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Report what a file lost, how useful it still is, and what its classes are like.

    With --original the figures are exact, and may reveal what the file hides: keep them as confidential as the
    original.
    """
    from kohort.measures.figures.epsilon import EPSILON
    from kohort.reports.measure import bound_of, measured
    from kohort.reports.published import policy_for

    names = {"quasi_identifiers": qi or (), "sensitive": sensitive or ()}
    chosen = policy_for(release, policy, k=k, original=original, **names)
    if bound_effort is not None:
        chosen = chosen.with_changes("algorithm", bound_effort=bound_effort)
    with progress_bar(silent=json or quiet) as progress:
        found = measured(
            release,
            original,
            chosen,
            name=name,
            epsilon=EPSILON if epsilon is None else epsilon,
            targets=target or (),
            queries=queries,
            seed=seed,
            progress=progress,
            lenient=policy is None,
        )
        bound = None if original is None else bound_of(original, chosen, name=name)
    if json:
        print_json(found.to_dict() | {"bound": bound})
    elif not quiet:
        print_loss(found.loss, bound)
        sentences = [] if found.utility is None else found.utility.sentences()
        for sentence in sentences[:1] + sentences[2:]:
            print_hanging("- ", sentence)
        console().print("classes", style="bold")
        print_figures(found.figures)


def print_figures(figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the figures, one line for each; lists of figures are for machines."""
    width = max(map(len, figures), default=0)
    for name, values in figures.items():
        shown = ", ".join(f"{what} {_rounded(value)}" for what, value in values.items() if not isinstance(value, list))
        print_hanging(f"  {name:<{width}}  ", shown)


def _rounded(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"
