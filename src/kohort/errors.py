"""The ways in which a request can end without a release.

A user's mistake, a request that no algorithm can meet, a broken promise and a bug of ours are
different things, and each has its own type and exit code. Messages name columns, counts and
rows by number; they never quote a cell value.
"""

from __future__ import annotations


class KohortError(Exception):
    """Base of all errors that kohort raises on purpose.

    Attributes
    ----------
    exit_code : int
        What the command line returns.
    faults : tuple of str
        One sentence per fault; all faults of one input are reported together.
    """

    exit_code = 2

    def __init__(self, *faults: str) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))


class PolicyError(KohortError):
    """The policy is wrong, or does not fit the table."""


class DataError(KohortError):
    """The table or a hierarchy file cannot be used as it is."""


class EngineError(KohortError):
    """What should do the work is not there, or does not start."""


class InfeasibleError(KohortError):
    """The request is well formed, but nothing can meet it."""

    exit_code = 3


class VerificationError(KohortError):
    """The written file does not keep the promise; it was not published."""

    exit_code = 1


class InternalError(KohortError):
    """A bug of ours."""

    exit_code = 70

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault} This is a bug in kohort; please report it.")


class Interrupted(BaseException):
    """Ctrl-C on the command line, whose framework would take a KeyboardInterrupt for its own."""
