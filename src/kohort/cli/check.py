"""`kohort check`: whether a table fits its policy, before any work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kohort.cli.given import table_of
from kohort.cli.shared import (
    DataArgument,
    FromTable,
    JsonOption,
    PolicyOption,
    Query,
    app,
    console,
    print_hanging,
    print_json,
)

if TYPE_CHECKING:
    from kohort.reports.check import Forecast


@app.command()
def check(
    data: DataArgument,
    policy: PolicyOption,
    earlier: Annotated[
        Path | None, typer.Option(metavar="DATA", help="An earlier extract: what is new since then is reported.")
    ] = None,
    table: FromTable = None,
    query: Query = None,
    json: JsonOption = False,
) -> None:
    """Check DATA against its policy before any work, and say what a release will take.

    Finds everything that `anonymize` would refuse, and publishes nothing. Exit codes: 0 nothing to say, 1 something to
    look at first, 2 and 3 it would be refused.
    """
    import kohort

    found = kohort.check(table_of(data, table, query), policy, earlier=earlier)
    if json:
        print_json(found.to_dict())
        raise typer.Exit(found.exit_code)
    for fault in found.faults:
        print_hanging("  refused  ", fault)
    for change in found.changes:
        print_hanging("  look at  ", change)
    if found.forecast is not None:
        _print_forecast(found.forecast)
    ends = {0: "it fits the policy.", 1: "it fits the policy; look at these first."}
    console().print(ends.get(found.exit_code, "it would be refused."))
    if found.see is not None:
        console().print(f"see {found.see}")
    raise typer.Exit(found.exit_code)


def _print_forecast(forecast: Forecast) -> None:
    seconds = forecast.seconds
    duration = f"{seconds / 60:.0f} min" if seconds >= 100 else f"{seconds:.0f} s" if seconds >= 1 else "a second"
    pieces = "" if forecast.partitions == 1 else f" in {forecast.partitions} partitions"
    console().print(
        f"{forecast.records:,} records: clustering takes about {duration}{pieces}, and the release about "
        f"{forecast.bytes / 1e9:.1f} GB of memory."
    )
