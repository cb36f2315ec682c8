"""`kohort algorithms`, `measures`, `models` and `schema`: what there is."""

from __future__ import annotations

from typing import Any

from kohort.cli.shared import JsonOption, app, console, print_hanging, print_json


@app.command()
def algorithms(json: JsonOption = False) -> None:
    """List the algorithms and their papers."""
    from kohort.reports import catalogue

    _list(catalogue.algorithms(), json=json)


@app.command()
def measures(json: JsonOption = False) -> None:
    """List the loss measures and their papers."""
    from kohort.reports import catalogue

    _list(catalogue.measures(), json=json)


@app.command()
def models(json: JsonOption = False) -> None:
    """List the privacy models and their papers."""
    from kohort.reports import catalogue

    _list(catalogue.models(), json=json)


@app.command()
def schema() -> None:
    """Print the JSON schema of the policy file."""
    from kohort.policy import Policy

    print_json(Policy.json_schema())


def _list(entries: dict[str, dict[str, Any]], *, json: bool) -> None:
    if json:
        print_json(entries)
        return
    out = console()
    for name, entry in entries.items():
        out.print(name, style="bold")
        for fact, text in entry.items():
            if text:
                if fact == "parameters":
                    text = ", ".join(f"{key} = {value!r}" for key, value in text.items())
                print_hanging(f"  {fact + ':':<12}", text)
