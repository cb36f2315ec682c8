"""Tables as the command line gives them: a path, or ``-`` for what comes in or goes out through a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

_KINDS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"PK\x03\x04": ".xlsx",
    b"{": ".jsonl",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}
"""How files of some kinds begin."""
PIPE = Path("-")


def taken(context: typer.Context, path: Path | None) -> Path | None:
    """The path itself; for ``-``, that of a private file with what comes in, which is gone when the command ends."""
    return context.with_resource(_piped_in()) if path == PIPE else path


@contextmanager
def _piped_in() -> Iterator[Path]:
    """What comes in, in a private file whose name says what it is."""
    from kohort.common.private import private_folder

    with private_folder("kohort-stdin") as folder:
        whole = folder / "stdin"
        with whole.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with whole.open("rb") as file:
            head = file.read(8)
        suffix = next((suffix for magic, suffix in _KINDS.items() if head.startswith(magic)), ".csv")
        yield whole.rename(whole.with_suffix(suffix))


@contextmanager
def piped_out(output: Path) -> Iterator[Path]:
    """The path itself; for ``-``, that of a private CSV file, which goes out when the block ends well."""
    if output != PIPE:
        yield output
        return
    from kohort.common.private import private_folder
    from kohort.errors import DataError

    with private_folder("kohort-stdout") as folder:
        path = folder / "release.csv"
        yield path
        try:
            with path.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except OSError as error:
            fault = error.strerror or "it is closed"
        else:
            return
        raise DataError(f"standard output: the release did not go out whole ({fault}); throw away what came.")
