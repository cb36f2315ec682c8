"""The ways in which a request can end without a release.

A user's mistake, a request that no algorithm can meet, a broken promise and a bug of ours are
different things, and each has its own type and exit code. Messages name columns, counts and
rows by number; they never quote a cell value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded|File too large|os error (27|28|122)\b")
"""What libraries say, in words of their own, when a disk is full or a file may not grow."""


def printable(sentence: str) -> str:
    r"""A sentence in one line, of letters that a terminal shows: names may hold anything, also commands to terminals.

    Examples
    --------
    >>> print(printable("no\nsuch file"))
    no\nsuch file
    """
    if sentence.isprintable():
        return sentence
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in sentence
    )


class KohortError(Exception):
    """Base of all errors that kohort raises on purpose.

    Attributes
    ----------
    exit_code : int
        What the command line returns.
    faults : tuple of str
        One sentence per fault; all faults of one input are reported together.
    anchor : str
        Where docs/errors.md has more about errors of this kind.
    """

    exit_code = 2
    anchor = "usage"

    def __init__(self, *faults: str) -> None:
        self.faults = tuple(map(printable, faults))
        super().__init__("\n".join(self.faults))

    @property
    def see(self) -> str:
        """The page and the place in it."""
        return f"docs/errors.md#{self.anchor}"

    @classmethod
    def refuse(cls, faults: Iterable[str]) -> None:
        """Raise all faults together, if there are any."""
        if all_faults := tuple(faults):
            raise cls(*all_faults)


class PolicyError(KohortError):
    """The policy is wrong, or does not fit the table."""

    anchor = "policy"


class DataError(KohortError):
    """The table or a hierarchy file cannot be used as it is."""

    anchor = "data"


class CellError(DataError):
    """Some cells of a column cannot be used: which rows hold them, and how to say so.

    Parameters
    ----------
    rows : array or Series of int
        Rows that hold such a cell, counted from 0, ascending.
    say : callable
        The sentence, given the number of these rows and where the first of them is, if that is known.
    """

    def __init__(self, rows: Any, say: Callable[[int, str], str]) -> None:
        super().__init__(say(len(rows), f" (first in row {rows[0] + 1})"))
        self.rows = rows
        self._say = say

    def __reduce__(self) -> tuple[type[DataError], tuple[str, ...]]:
        """In another process, the sentence is enough."""
        return DataError, self.faults

    def of_counts(self, counts: Sequence[int]) -> DataError:
        """The same where each row stands for several records, wherever these are."""
        return DataError(self._say(sum(counts[row] for row in self.rows), ""))


class EngineError(KohortError):
    """What should do the work is not there, or does not start."""

    anchor = "engine"


class InfeasibleError(KohortError):
    """The request is well formed, but nothing can meet it."""

    exit_code = 3
    anchor = "infeasible"


class VerificationError(KohortError):
    """The written file does not keep the promise; it was not published."""

    exit_code = 1
    anchor = "verification"


class InternalError(KohortError):
    """A bug of ours."""

    exit_code = 70
    anchor = "internal"

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault} This is a bug in kohort; please report it.")


class Interrupted(BaseException):
    """Ctrl-C on the command line, whose framework would take a KeyboardInterrupt for its own."""


class Stopped(BaseException):
    """A polite kill, or a terminal that is gone."""
