"""`kohort compare`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kohort.cli.shared import DataArgument, JsonOption, PolicyOption, app, console, print_json

if TYPE_CHECKING:
    from kohort.reports.compare import Outcome


HEADER = f"{'algorithm':<20}{'k':>5}{'loss':>9}{'classes':>9}{'smallest':>10}{'largest':>9}{'seconds':>9}"


@app.command()
def compare(
    data: DataArgument,
    policy: PolicyOption,
    algorithms: Annotated[
        str | None,
        typer.Option(
            help="Names, separated by commas; default: all. Parameters after colons: 'gccg-parallel:parts=4,cb'."
        ),
    ] = None,
    k: Annotated[str | None, typer.Option(help="Values of k, separated by commas: '5,10,50'.")] = None,
    json: JsonOption = False,
) -> None:
    """Compare algorithms on DATA; publishes nothing."""
    import kohort
    from kohort.errors import PolicyError

    names = [name.strip() for name in algorithms.split(",")] if algorithms else None
    try:
        sizes = [int(size) for size in k.split(",")] if k else None
    except ValueError:
        raise PolicyError(f"--k must be whole numbers with commas between them; got {k!r}.") from None
    if json:
        print_json([asdict(outcome) for outcome in kohort.compare(data, policy, algorithms=names, k=sizes)])
        return
    out, lines = console(), 0

    def told(outcome: Outcome) -> None:
        nonlocal lines
        if not lines:  # what is refused as a whole has no table
            out.print(HEADER, style="bold")
        lines += 1
        out.print(_line(outcome))

    kohort.compare(data, policy, algorithms=names, k=sizes, progress=told)


def _line(outcome: Outcome) -> str:
    start = f"{outcome.algorithm:<20}{outcome.k:>5}"
    if outcome.loss is None:
        return f"{start}  refused: {outcome.refused}"
    notes = "" if outcome.anonymity == "classes" else f"  k counts {outcome.anonymity}"
    if outcome.suppressed:
        notes += f"  {outcome.suppressed:,} suppressed"
    if outcome.sse is not None:
        notes += f"  SSE/SST {100 * outcome.sse:.2f} %"
    return (
        f"{start}{outcome.loss:>9.4f}{outcome.classes:>9,}{outcome.smallest:>10,}{outcome.largest:>9,}"
        f"{outcome.seconds:>9.2f}{notes}"
    )
