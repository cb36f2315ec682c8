"""Standard streams that cannot fail: what is printed never decides how finished work ends.

A pipe that is closed (``| head -1``), a full disk, an encoding without some letter: the first two end the printing, and
the letter is replaced. The exit code says what became of the work, and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from kohort.common import stopping


class Steady:
    """A text stream whose `write` and `flush` always succeed; all else is the stream's own.

    Parameters
    ----------
    stream : text stream
        Where the text goes.
    hushed : bool
        Whether nothing more is said once somebody has asked to stop: libraries would report what they were doing.
    """

    def __init__(self, stream: TextIO, *, hushed: bool = False) -> None:
        self._stream = stream
        self._hushed = hushed
        self.fault: OSError | None = None
        """Why the printing ended."""

    def write(self, text: str) -> int:
        """Write a text; letters that the encoding lacks become question marks."""
        if self.fault is None and not (self._hushed and stopping.is_wished()):
            try:
                try:
                    self._stream.write(text)
                except UnicodeEncodeError:
                    encoding = self._stream.encoding
                    self._stream.write(text.encode(encoding, "replace").decode(encoding))
            except (OSError, ValueError) as error:
                self._end(error)
        return len(text)

    def flush(self) -> None:
        """Hand over what was written."""
        if self.fault is None:
            try:
                self._stream.flush()
            except (OSError, ValueError) as error:
                self._end(error)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _end(self, error: Exception) -> None:
        self.fault = error if isinstance(error, OSError) else OSError(str(error))
        # What is left in the buffer is written when the interpreter ends, which must not fail either.
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


@contextmanager
def steady_streams() -> Iterator[None]:
    """Replace the standard streams by steady ones for a while; at the end, say it if printing failed."""
    _open_closed()
    out, err = sys.stdout, sys.stderr
    steady, errors = Steady(out), Steady(err, hushed=True)
    sys.stdout, sys.stderr = cast("TextIO", steady), cast("TextIO", errors)
    try:
        yield
    finally:
        steady.flush()
        if steady.fault is not None and not isinstance(steady.fault, BrokenPipeError):
            errors.write(f"warning: not all could be printed ({steady.fault.strerror or 'the stream is closed'}).\n")
        errors.flush()
        sys.stdout, sys.stderr = out, err


def _open_closed() -> None:
    """Open streams that were closed by the caller: the next file would get their number, and be printed into."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                # Descriptors are given out in order, and those below are open: this is the one that is missing.
                os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 (stays open)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
