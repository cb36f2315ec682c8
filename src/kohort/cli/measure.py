"""`kohort measure`: what a file lost, and what its classes are like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from kohort.cli.given import located, taken
from kohort.cli.shared import (
    BoundOption,
    JsonOption,
    PolicyOption,
    QuietOption,
    app,
    policy_of,
    print_hanging,
    print_json,
    print_loss,
)


@app.command()
def measure(
    release: Annotated[
        Any, typer.Argument(metavar="OUT", parser=located, callback=taken, help="The release, made by any tool.")
    ],
    policy: PolicyOption,
    original: Annotated[
        Any,
        typer.Option(parser=located, help="The original table; without it, only figures that anybody can compute."),
    ] = None,
    name: Annotated[str | None, typer.Option("--measure", help="Loss measure, instead of the policy's.")] = None,
    bound_effort: BoundOption = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Distance of sensitive values, 0 to 1, for which delta is reported; 0.1.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Report the information loss of a file, and figures about its classes.

    With --original the figures are exact, and may reveal what the file hides: keep them as confidential as the
    original.
    """
    from kohort.measures.figures.epsilon import EPSILON
    from kohort.reports.measure import bound_of, measure_and_describe

    chosen = policy_of(policy, algorithm={"bound_effort": bound_effort})
    loss, figures = measure_and_describe(
        release, original, chosen, name=name, epsilon=EPSILON if epsilon is None else epsilon
    )
    bound = None if original is None else bound_of(original, chosen, name=name)
    if json:
        print_json(asdict(loss) | {"bound": bound, "figures": figures})
    elif not quiet:
        print_loss(loss, bound)
        print_figures(figures)


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
