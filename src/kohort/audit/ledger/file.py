"""The file of a ledger: read whole and checked, written whole and private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kohort.audit.ledger.format import FORMAT, VERSION, Ledger
from kohort.common.private import fault_of_file, fault_of_parents
from kohort.common.regular import regular
from kohort.errors import DataError

_RESTORE = "restore the file from a copy"


def read_ledger(path: str | Path) -> Ledger:
    """Read a ledger, and check that it is one and that its seals fit.

    Raises
    ------
    DataError
        One sentence on the first thing that is wrong; it holds nothing of what the ledger says.
    """
    path = Path(path)
    try:
        with regular(path).open("rb") as file:
            fault = fault_of_file(file.fileno(), path)
            content = file.read()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise DataError(f"ledger {path.name}: cannot be read ({reason}); check the path.") from None
    _refuse_writers(path, fault)
    _refuse_strange(path.name, content)
    try:
        ledger = Ledger.model_validate_json(content)
    except ValidationError as error:
        place = _place(error)
    else:
        number = ledger.broken_seal
        if number is None:
            return ledger
        raise DataError(f"ledger {path.name}: release {number} was changed after it was written; {_RESTORE}.")
    # raised out here, as the words of the error quote the ledger
    raise DataError(f"ledger {path.name}: {place} is malformed; {_RESTORE}.")


def read_or_new(path: Path) -> Ledger:
    """Read a ledger, or begin one where there is no file yet."""
    if path.exists():
        return read_ledger(path)
    _refuse_writers(path, fault_of_parents(path.absolute()))
    return Ledger()


def write_ledger(path: Path, ledger: Ledger) -> None:
    """Write a ledger whole, for its owner's eyes only."""
    from kohort.table.safe import write_text

    write_text(path, ledger.to_json(), private=True)


def _refuse_writers(path: Path, fault: str | None) -> None:
    """Refuse a ledger that somebody else can take releases out of, so that a later one would pass."""
    if fault is not None:
        raise DataError(
            f"ledger {path.name}: cannot be trusted, as {fault}; take the right to write from others (chmod go-w), or "
            "keep it in a folder of your own."
        )


def _refuse_strange(name: str, content: bytes) -> None:
    """Refuse another file, and a ledger of another version, which has other parts."""
    head: Any
    try:
        head = json.loads(content)
    except (ValueError, RecursionError):
        head = None
    is_ledger = isinstance(head, dict) and head.get("format") == FORMAT
    if is_ledger and head.get("version") != VERSION:
        raise DataError(f"ledger {name}: this version of kohort reads version {VERSION} only; update kohort.")
    if not is_ledger or "releases" not in head:
        raise DataError(f"ledger {name}: is not a whole ledger of kohort; give another file, or {_RESTORE}.")


def _place(error: ValidationError) -> str:
    """Say where the first fault is: the number of the release is enough, and reveals nothing."""
    where = error.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
    if len(where) > 1 and where[0] == "releases" and isinstance(where[1], int):
        return f"release {where[1] + 1}"
    return "its outer part"
