"""The `kohort` command: its exit codes, and what it says when something goes wrong.

Nothing heavy is imported here, not even the framework of commands: signals are answered before that.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import NoReturn

from kohort.cli.streams import steady_streams
from kohort.common import stopping
from kohort.errors import InternalError, Interrupted, KohortError, Stopped

COMMANDS: tuple[str, ...] = (
    "demo",
    "init",
    "check",
    "anonymize",
    "verify",
    "certificate",
    "measure",
    "codebook",
    "risk",
    "attack",
    "report",
    "ledger",
    "compare",
    "why",
    "hierarchy",
    "trees",
)
COMMANDS += ("arx", "reproduce", "compile", "engines", "lists")
"""Modules with commands, in the order that `kohort --help` lists them."""


def modules_of(arguments: Sequence[str]) -> Sequence[str]:
    """The modules that have what the arguments ask for: that of the command, or all if its name is none of theirs."""
    asked = arguments[0] if arguments else ""
    if asked == "hierarchy":
        return "hierarchy", "trees"
    return [asked] if asked in COMMANDS else COMMANDS


def main() -> NoReturn:
    """Run the command line and end at once: to take all libraries apart would take longer than many a command."""
    try:
        run()
    except SystemExit as end:
        if any(not one.daemon for one in threading.enumerate() if one is not threading.main_thread()):
            raise
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))


def run() -> NoReturn:
    """Run the command line; every way to end has its exit code.

    Signals are ignored from then until the interpreter has ended: the exit code stands.
    """
    code = 130
    # Nearly all that a start makes stays; to look for cycles in it again and again takes a tenth of its time.
    gc.set_threshold(500_000, 50, 50)
    # A plugin would see every policy; to look for one among all that is installed takes time, too.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        stopping.begin()
        with steady_streams():
            code = _run()
    except (Stopped, Interrupted):
        pass
    stopping.ignore()
    sys.exit(code)


def _run() -> int:
    """Run the command, and say how it ended."""
    try:
        try:
            return _finished(_command())
        except (Stopped, Interrupted):
            return _finished(_stopped())
    finally:
        stopping.over()


def _finished(code: int) -> int:
    """The exit code stands; signals from now on change nothing."""
    stopping.over()
    return code


def _command() -> int:
    """Run the command; whatever a wish to stop has become on its way, it ends as one."""
    try:
        from kohort.common.limits import refuse_limits

        refuse_limits()
        for module in modules_of(sys.argv[1:]):
            importlib.import_module(f"kohort.cli.{module}")
        from kohort.cli.shared import app

        try:
            code = app(standalone_mode=False)
        except SystemExit as end:
            code = end.code
        if not stopping.is_published():
            stopping.heed()
        return code if isinstance(code, int) else 0 if code is None else 1
    except BaseException as error:
        # Ctrl-C may come as an exception of the framework, or of a library that answers signals itself.
        if stopping.is_wished() or isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
            raise Interrupted from None
        return _say(_reported(error))


def _stopped() -> int:
    stopping.over()
    what = "the release was published before" if stopping.is_published() else "nothing was published"
    sys.stderr.write(f"stopped; {what}.\n")
    return 130


def _reported(error: BaseException) -> KohortError:
    """What may be said of an error."""
    from kohort.common.limits import limit_of

    if isinstance(error, KohortError):
        reported = error
    elif usage := getattr(error, "format_message", None):
        # The framework's own faults, a wrong option or the like, can write themselves as a sentence.
        reported = _usage(usage())
    else:
        reported = limit_of(error) or _bug(error)
    if stopping.is_published():
        reported.faults = (*reported.faults, "the release was verified and published before this.")
    return reported


def _say(error: KohortError) -> int:
    if "--json" in sys.argv:
        facts = {"error": type(error).__name__, "faults": list(error.faults), "exit_code": error.exit_code}
        facts["see"] = error.see
        sys.stdout.write(json.dumps(facts, indent=2) + "\n")
    else:
        for fault in error.faults:
            sys.stderr.write(f"error: {fault}\n")
        sys.stderr.write(f"see {error.see}\n")
    return error.exit_code


def _usage(message: str) -> KohortError:
    """A wrong option or argument, in the words of the command line."""
    sentence = message.replace("Input should be ", "must be ").partition(", unable to parse")[0].rstrip(".")
    return KohortError(f"{sentence[:1].lower()}{sentence[1:]}; see kohort --help.")


def _bug(error: BaseException) -> InternalError:
    """What may be said of an unexpected error: its kind and place, never its text, which may quote data."""
    if os.environ.get("KOHORT_DEBUG"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = next((f for f in reversed(frames) if "kohort" in f.filename), frames[-1])
    name = place.filename.replace(os.sep, "/").rpartition("/kohort/")[2]
    return InternalError(f"{type(error).__name__} in {name}, line {place.lineno}.")
