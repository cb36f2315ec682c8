"""What came of each run of a comparison, and a table of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import polars as pl

from kohort.common.html import html_block, html_table
from kohort.policy import Policy
from kohort.reports.compare.cells import Cell, Models, spelled_models
from kohort.reports.compare.frontier import Recommendation, frontier_of, recommended


@dataclass(frozen=True)
class Outcome:
    """What one algorithm did with one k, one set of privacy models and one seed."""

    algorithm: str
    """As it was asked for: a name, with parameters if some were given."""
    k: int
    anonymity: str
    """What k means in its release."""
    loss: float | None
    """Information loss by the policy's measure; None if the algorithm refused."""
    classes: int | None
    """Number of published classes."""
    smallest: int | None
    largest: int | None
    suppressed: int | None
    seconds: float
    """Time of the clustering. Compiling takes no part in it."""
    sse: float | None = None
    """Share of the variance that lies within classes (SSE / SST), where all quasi-identifiers are numbers or dates."""
    clusters: int | None = None
    """Number of clusters that the algorithm formed; those that are published alike are one class."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the algorithm reports about its result."""
    refused: str = ""
    """Why the algorithm refused, in one sentence."""
    number: int = 0
    """Its place in the comparison, from 1: what `--release` takes."""
    models: str = "none"
    """Privacy models beside k-anonymity, as `--models` takes them."""
    seed: int = 0
    highest_risk: float | None = None
    """Prosecutor risk of the records at highest risk: 1 over the smallest class, of persons if the policy counts them.
    None where a release is not in classes."""
    mean_risk: float | None = None
    """Mean prosecutor risk of the published records: classes over records."""
    reached: Mapping[str, float] = field(default_factory=dict)
    """The strictest parameter of each privacy model that every class keeps."""
    cell: Cell | None = field(default=None, repr=False, compare=False)

    def policy(self, policy: Policy | str) -> Policy:
        """The policy by which `kohort.anonymize` makes this release: with the same seed, of the same clusters."""
        assert self.cell is not None
        return self.cell.policy(Policy.of(policy))

    @property
    def name(self) -> str:
        """Algorithm and k in a few words."""
        return f"{self.algorithm}, k = {self.k}" + ("" if self.models == "none" else f", {self.models}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {key: value for key, value in asdict(self).items() if key != "cell"}


class Outcomes(list[Outcome]):
    """What several algorithms did: a list, a table of it, its frontier, and the outcome that is recommended.

    Parameters
    ----------
    outcomes : iterable of Outcome
        In the order of their numbers.
    k : int
        What the policy promises.
    models : tuple
        The privacy models that it promises.
    bounds : mapping
        For each k, what no release of the table in classes can lose less than; None where that is not known.
    """

    def __init__(
        self,
        outcomes: Iterable[Outcome] = (),
        k: int = 2,
        models: Models = (),
        bounds: Mapping[int, float | None] | None = None,
    ) -> None:
        super().__init__(outcomes)
        self.k, self.models, self.bounds = k, models, dict(bounds or {})

    @cached_property
    def frontier(self) -> list[int]:
        """Numbers of the outcomes that no other one beats: none is at most as risky and loses at most as much."""
        return frontier_of(self)

    @cached_property
    def recommended(self) -> Recommendation | None:
        """The outcome that is recommended, and why; None if none keeps what the policy promises."""
        promised = {spelled_models((model,)) for model in self.models}
        return recommended([one for one in self if one.k >= self.k and promised <= set(one.models.split(" + "))])

    def to_frame(self) -> pl.DataFrame:
        """The outcomes as a polars frame, one row for each; without their facts.

        Examples
        --------
        >>> Outcomes().to_frame().columns[:4]
        ['number', 'algorithm', 'k', 'models']
        """
        best = self.recommended
        rows = [
            one.to_dict()
            | {
                "reached": json.dumps(dict(one.reached)),
                "bound": self.bounds.get(one.k) if one.anonymity == "classes" else None,
                "frontier": one.number in self.frontier,
                "recommended": best is not None and one.number == best.number,
            }
            for one in self
        ]
        return pl.DataFrame([[row[name] for name in _TYPES] for row in rows], _TYPES, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        best = self.recommended
        return {
            "outcomes": [one.to_dict() for one in self],
            "bounds": [{"k": k, "loss": loss} for k, loss in self.bounds.items()],
            "frontier": self.frontier,
            "recommended": None if best is None else asdict(best),
        }

    def _repr_html_(self) -> str:
        """For notebooks."""
        frame = self.to_frame()
        return html_block("Outcomes", html_table(frame.columns, frame.rows()))


_FIRST = ("number", "algorithm", "k", "models", "seed", "anonymity", "loss", "highest_risk", "mean_risk")
_KINDS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("algorithm", "anonymity", "refused", "models", "reached"), pl.String),
    **dict.fromkeys(("loss", "seconds", "sse", "highest_risk", "mean_risk", "bound"), pl.Float64),
    **dict.fromkeys(("frontier", "recommended"), pl.Boolean),
}
_NAMES = dict.fromkeys([*_FIRST, *(one.name for one in fields(Outcome)), "bound", "frontier", "recommended"])
_TYPES = {name: _KINDS.get(name, pl.Int64) for name in _NAMES if name not in ("facts", "cell")}
