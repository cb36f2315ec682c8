"""Faults between the workers and the driver: our own are reported in full, those of others without their text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeVar

from kohort import errors
from kohort.errors import EngineError, InternalError, KohortError

T = TypeVar("T")

_MARKED = re.compile(r'<<kohort (\{"error": .*?\})>>')


class Reported(Exception):
    """A fault of ours on its way to the driver: Spark passes on the text of an exception, not its type."""


def naming_faults(work: Callable[[], T]) -> T:
    """Do something on a worker, so that the driver learns which of our errors ended it."""
    try:
        return work()
    except KohortError as error:
        fault = {"error": type(error).__name__, "faults": error.faults}
    raise Reported(f"<<kohort {json.dumps(fault)}>>")


def guarded(work: Callable[[], T], fault: str | None = None) -> T:
    """Do some work in Spark, and report a failure without its cause, whose text may quote cells.

    Parameters
    ----------
    work : callable
        What to do.
    fault : str, optional
        What an `EngineError` says; without it, a failure is a bug of ours.

    Raises
    ------
    KohortError
        When Spark fails, or a fault of ours ended the work of a worker.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return work()
    except (PySparkException, Py4JError) as error:
        name, marked = type(error).__name__, _MARKED.search(str(error))
        reported = json.loads(marked[1]) if marked else None
    # Raised out here, so that the quoted cells are not even in the context of the exception.
    if reported:
        raise getattr(errors, reported["error"])(*reported["faults"])
    raise EngineError(fault) if fault else InternalError(f"A job of Spark failed ({name}).")
