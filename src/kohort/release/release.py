"""What `anonymize` returns: the table, its proof, its loss, and where it came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohort.common.html import html_block, html_table
from kohort.measures.loss import Loss
from kohort.table.frames import take_frame

if TYPE_CHECKING:
    from kohort.audit import Verdict


SEVERAL_TABLES = "k is kept in each table, and NOT promised for the quasi-identifiers of all tables together"


@dataclass(frozen=True)
class Provenance:
    """How a release was made. Private: with it, and the input, the release can be made again."""

    algorithm: str
    parameters: dict[str, Any]
    measure: dict[str, Any]
    seed: int
    input_key: str
    """Key of the input's hash in the public verdict: whoever has it can check the input."""
    seconds: dict[str, float]
    """Time of each step."""
    clusters: int
    """Clusters formed; two that publish the same description are one class."""


@dataclass(frozen=True)
class Release:
    """A verified release.

    Attributes
    ----------
    table
        The published table: a frame of the kind that was given, polars for a file.
    verdict : Verdict
        The proof, made from the written file and the original. Private: `public` has what may be handed over of it.
    loss : Loss
        The information lost, relative to the original. Private: where the release hides the ends of a column, or a
        record, it could be solved for them.
    public_loss : Loss
        The information lost, relative to what the policy declares and the release shows. Public: whoever has the
        release can compute it.
    provenance : Provenance
        How it was made. Private.
    path : Path or None
        Where it was written.
    row_order : array of int
        The original row of each published row. Private, and never written anywhere.
    tables : dict
        All tables by name, where a release has several; `table` is the first of them.
    facts : mapping
        Figures that the algorithm reports. Private.
    hidden : mapping
        Quasi-identifiers that are `*` in every row, each with what may help, and with the number of its values in the
        original. Private.
    """

    table: Any = field(repr=False)
    verdict: Verdict
    loss: Loss
    public_loss: Loss
    provenance: Provenance = field(repr=False)
    path: Path | None = None
    row_order: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    tables: Mapping[str, Any] = field(default_factory=dict, repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    hidden: Mapping[str, str] = field(default_factory=dict, repr=False)
    find_bound: Callable[[], float | None] = field(default=lambda: None, repr=False)

    @cached_property
    def bound(self) -> float | None:
        """What no release of this table in classes of k can lose less than; private.

        It is computed when first asked for, with the effort that the policy gives it. None where the policy asks
        for none, or for releases of another kind.
        """
        return self.find_bound()

    @property
    def known_bound(self) -> float | None:
        """The bound, if it was asked for before; None if not."""
        return self.bound if "bound" in self.__dict__ else None

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, the loss, and some rows of classes of k or more."""
        losses = [("all", self.loss.total), *self.loss.by_column.items()]
        head = self._rows_of_classes()
        parts = [self.verdict._repr_html_(), html_block("information loss", html_table((), losses))]
        if head is not None:
            parts.append(html_block("some rows", html_table(head.columns, head.rows())))
        return html_block("Release", *parts)

    def _rows_of_classes(self, rows: int = 5) -> pl.DataFrame | None:
        """The first rows that k or more are equal to; None where a release is no table of classes in memory."""
        if len(self.tables) != 1 or self.verdict.promise.get("privacy", {}).get("anonymity", "classes") != "classes":
            return None
        frame, _ = take_frame(self.table)
        columns: Mapping[str, Any] = self.verdict.promise["columns"]
        quasi = [name for name in frame.columns if columns.get(name, {}).get("role") == "quasi"]
        return frame.filter(pl.len().over(quasi) >= self.verdict.facts.k).head(rows)

    def public(self) -> dict[str, Any]:
        """What may be handed over: all of it follows from the release and the policy, but for a keyed hash."""
        several = any(check.table for check in self.verdict.checks)
        return (
            self.verdict.public().to_dict()
            | {"loss": asdict(self.public_loss)}
            | ({"warning": SEVERAL_TABLES} if several else {})
        )

    def private(self) -> dict[str, Any]:
        """What the steward keeps; with the bound, if it was asked for."""
        return self.verdict.to_dict() | {
            "loss": asdict(self.loss),
            "public_loss": asdict(self.public_loss),
            **({"bound": self.bound} if "bound" in self.__dict__ else {}),
            "algorithm": dict(self.facts),
            "provenance": asdict(self.provenance),
        }

    def public_json(self) -> str:
        """The public document as JSON."""
        return json.dumps(self.public(), indent=2) + "\n"

    def private_json(self) -> str:
        """The private document as JSON."""
        return json.dumps(self.private(), indent=2) + "\n"
