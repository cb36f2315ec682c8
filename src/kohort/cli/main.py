"""The `kohort` command: its app, its exit codes, and what it says when something goes wrong.

Nothing heavy is imported here: every command imports what it needs when it runs.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from types import FrameType
from typing import Annotated, NoReturn

import typer

from kohort.cli.shared import app
from kohort.errors import InternalError, Interrupted, KohortError

COMMANDS = ("demo", "init", "anonymize", "judge", "ledger", "compare", "why", "hierarchy", "catalogue")
"""Modules with commands, in the order that `kohort --help` lists them."""


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Turn a table about people into a table that is safe to hand over, and prove it.

    Exit codes: 0 done and verified, 1 the privacy promise does not hold, 2 bad input or policy,
    3 infeasible request, 70 a bug of ours.
    """
    if version:
        import kohort

        typer.echo(kohort.__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


class Stopped(BaseException):
    """A polite kill."""


def run() -> NoReturn:
    """Run the command line; every way to end has its exit code."""
    for module in COMMANDS:
        importlib.import_module(f"kohort.cli.{module}")
    # A polite kill cleans up like Ctrl-C does; both are said in our words, not the framework's.
    before = {number: signal.signal(number, _stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        code = _run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    sys.exit(code)


def _run() -> int:
    try:
        return int(app(standalone_mode=False) or 0)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except (Stopped, Interrupted):
        typer.echo("stopped; nothing was published.", err=True)
        return 130
    except KohortError as error:
        return _say(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        # The framework's own faults, a wrong option or the like, can write themselves as a sentence.
        usage = getattr(error, "format_message", None)
        return _say(_usage(usage()) if usage else _bug(error))


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    # A search ends with what it has found when Ctrl-C is pressed; nothing takes a kill as a wish of that kind.
    raise Interrupted if number == signal.SIGINT else Stopped


def _say(error: KohortError) -> int:
    if "--json" in sys.argv:
        facts = {"error": type(error).__name__, "faults": list(error.faults), "exit_code": error.exit_code}
        typer.echo(json.dumps(facts, indent=2))
    else:
        for fault in error.faults:
            typer.echo(f"error: {fault}", err=True)
    return error.exit_code


def _usage(message: str) -> KohortError:
    """A wrong option or argument, in the words of the command line."""
    sentence = message.replace("Input should be ", "must be ").partition(", unable to parse")[0].rstrip(".")
    return KohortError(f"{sentence[:1].lower()}{sentence[1:]}; see kohort --help.")


def _bug(error: Exception) -> InternalError:
    """What may be said of an unexpected error: its kind and place, never its text, which may quote data."""
    if os.environ.get("KOHORT_DEBUG"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = next((f for f in reversed(frames) if "kohort" in f.filename), frames[-1])
    name = place.filename.replace(os.sep, "/").rpartition("/kohort/")[2]
    return InternalError(f"{type(error).__name__} in {name}, line {place.lineno}.")
