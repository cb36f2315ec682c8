"""`kohort engines`: what each engine can do."""

from __future__ import annotations

from kohort.cli.shared import JsonOption, app, console, print_json


@app.command()
def engines(json: JsonOption = False) -> None:
    """List the engines, and the features that each has.

    What an engine does not have is refused before any work.
    """
    from kohort.release.engines.features import ENGINES, FEATURES

    if json:
        features = {name: feature.summary for name, feature in FEATURES.items()}
        found = {engine.name: {"summary": engine.summary, "lacks": engine.lacks} for engine in ENGINES.values()}
        print_json({"features": features, "engines": found})
        return
    from rich import box
    from rich.table import Table

    table = Table("feature", *ENGINES, box=box.SIMPLE_HEAD, pad_edge=False)
    for name, feature in FEATURES.items():
        table.add_row(feature.summary, *("-" if name in engine.lacks else "yes" for engine in ENGINES.values()))
    out = console()
    out.print(table)
    for engine in ENGINES.values():
        out.print(f"{engine.name}: {engine.summary}", markup=False)
