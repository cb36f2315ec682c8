"""`kohort algorithms`, `measures`, `models` and `schema`: what there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from kohort.cli.shared import JsonOption, app, console, print_hanging, print_json


@app.command()
def algorithms(json: JsonOption = False) -> None:
    """List the algorithms and their papers."""
    from kohort.algorithms import ALGORITHMS

    _list(ALGORITHMS, ("summary", "paper", "recoding", "guarantee", "complexity"), json=json)


@app.command()
def measures(json: JsonOption = False) -> None:
    """List the loss measures and their papers."""
    from kohort.measures import MEASURES

    _list(MEASURES, ("summary", "paper"), json=json)


@app.command()
def models(json: JsonOption = False) -> None:
    """List the privacy models and their papers."""
    from kohort.privacy import MODELS

    _list(MODELS, ("summary", "paper"), json=json)


@app.command()
def schema() -> None:
    """Print the JSON schema of the policy file."""
    from kohort.policy import Policy

    print_json(Policy.json_schema())


def _list(registry: Mapping[str, Any], facts: tuple[str, ...], *, json: bool) -> None:
    entries = {
        name: {fact: getattr(cls, fact) for fact in facts} | {"parameters": _parameters(cls)}
        for name, cls in registry.items()
    }
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


def _parameters(cls: Any) -> dict[str, Any]:
    return {field.name: "required" if field.default is MISSING else field.default for field in fields(cls)}
