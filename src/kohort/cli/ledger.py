"""`kohort ledger`: what was released before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kohort.cli.shared import JsonOption, app, console, print_json


@app.command()
def ledger(
    file: Annotated[Path, typer.Argument(metavar="LEDGER", help="A ledger of `kohort anonymize --ledger`.")],
    drop: Annotated[
        bool,
        typer.Option(
            "--drop-pending", help="Remove pending releases; only if you know that they were never handed over."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the releases in a ledger: dates, counts and hashes, no values."""
    from kohort.audit.ledger import drop_pending, read_ledger
    from kohort.audit.words import count

    dropped = drop_pending(file) if drop else 0
    releases: list[dict[str, Any]] = [
        {
            "date": entry.date,
            "status": entry.status,
            "rows": entry.shown.rows,
            "classes": len(entry.shown.classes),
            "persons": len(entry.people.signatures) if entry.people else None,
            "release": entry.release,
            "policy": entry.policy,
        }
        for entry in read_ledger(file).releases
    ]
    if json:
        print_json({"releases": releases, "dropped": dropped})
        return
    out = console()
    for number, entry in enumerate(releases, 1):
        counts = f"{count(entry['rows'], 'record')} in {count(entry['classes'], 'class', 'classes')}"
        if entry["persons"] is not None:
            counts += f" of {count(entry['persons'], 'person')}"
        out.print(f"{number:>3}  {entry['date']}  {entry['status']:<9}  {counts}")
        out.print(f"     release {entry['release']}")
    if drop:
        out.print(f"dropped: {dropped}")
    elif not releases:
        out.print("no release yet")
