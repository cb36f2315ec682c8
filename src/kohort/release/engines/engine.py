"""What an engine is: the path of the data from the table to the checked drafts, wherever the table is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.audit import Verdict
from kohort.audit.ledger import People, Recording, Shown
from kohort.codes.encode import Axis
from kohort.common.progress import Clock
from kohort.release.engines.features import Profile
from kohort.release.plan import Plan
from kohort.release.published_loss import Counted
from kohort.release.sets import PublishedSets
from kohort.table.read import Kind
from kohort.table.safe import Drafts


@dataclass(frozen=True)
class Request:
    """What is asked for, and has been found to be possible."""

    table: Any
    plan: Plan
    path: Path | None
    """Where the release will be; None for a data frame."""
    kind: Kind
    clock: Clock
    memory: str | int | None = None
    partitions: int | None = None
    resume: bool = False
    master: str | None = None


@dataclass(frozen=True)
class Written:
    """What is known of a release whose drafts are written."""

    plan: Plan
    axes: Sequence[Axis]
    original: Sequence[Path] | pl.DataFrame
    """Files, or the table as it was read."""
    tables: Mapping[str, Any]
    """The published tables by name; a single one has an empty name."""
    facts: Mapping[str, Any]
    """Figures that the algorithm and the engine report."""
    clusters: int | None = None
    """None where only the auditor counts them."""
    row_order: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    find_bound: Callable[[], float | None] = lambda: None
    of_sets: PublishedSets | None = None
    """What became of the sets, where there are some."""


@dataclass(frozen=True)
class Examined:
    """What the auditor found in the drafts."""

    verdict: Verdict
    published: Mapping[str, Counted]
    """The published texts of each quasi-identifier."""
    shown: Shown | None = None
    """What a ledger keeps of the release."""
    people: People | None = None


class Engine(Protocol):
    """Where a release is made. Each method is called once, in this order."""

    profile: ClassVar[Profile]
    """What users call it, and which features it lacks; a plan is refused from it before any work."""

    request: Request

    def __init__(self, request: Request) -> None:
        self.request = request

    def open(self, place: ExitStack) -> None:
        """Read and encode the table, and survey it; refuse what no release of it can keep.

        Parameters
        ----------
        place : ExitStack
            Closed before the release appears: sessions and private folders belong there.
        """

    def work(self) -> None:
        """Form the classes. Spark may leave it until the release is written."""

    def write(self, files: Drafts) -> Written:
        """Write the release into drafts."""

    def examine(self, record: Recording | None) -> Examined:
        """Let the auditor check the drafts.

        Parameters
        ----------
        record : Recording, optional
            The ledger with earlier releases, which are checked, too.
        """
