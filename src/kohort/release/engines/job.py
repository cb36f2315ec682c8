"""What every partition of a table has to know of the whole: made once, then sent to whoever works on a partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from kohort.codes.encode import Axis
from kohort.measures.compile import compile_costs
from kohort.policy import Policy
from kohort.privacy import Promise
from kohort.release.engines.cuts import Cuts
from kohort.release.engines.lookups import OWN
from kohort.release.plan import Plan
from kohort.release.pseudonyms import Key

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

ROW, PART, KEY = f"{OWN}row", f"{OWN}part", f"{OWN}key"
"""Columns of an engine: number of a record in the table, and of its partition; random rank of a published row."""


@dataclass(frozen=True)
class Job:
    """A plan, and the facts about the whole table."""

    plan: Plan
    columns: tuple[str, ...]
    """Columns of the table that are published, quasi-identifiers among them, in their order."""
    axes: tuple[Axis, ...]
    records: int
    """Records that take part."""
    allowance: int
    """Records that may be suppressed beside those that do not take part."""
    shuffle: int = field(repr=False)
    """Seed of the order of rows."""
    sensitive: tuple[Axis, ...] = ()
    promises: tuple[Promise, ...] = ()
    """About sensitive values; those of the records are in columns."""
    secret: Key | None = field(default=None, repr=False)
    cuts: Cuts = field(default_factory=lambda: Cuts(0))
    zones: Mapping[str, str] = field(default_factory=dict)
    """Time zones of columns of moments, where the engine leaves them behind."""

    @property
    def policy(self) -> Policy:
        """What is promised."""
        return self.plan.policy

    @property
    def k(self) -> int:
        """Smallest size of a class."""
        return self.plan.k

    @cached_property
    def costs(self) -> Costs:
        """What boxes cost."""
        return compile_costs(self.plan.measure, self.axes)

    @property
    def carried(self) -> list[str]:
        """Columns that are published as they are, or as pseudonyms: those that a partition must bring along."""
        quasi = set(self.policy.quasi_identifiers)
        return [name for name in self.columns if name not in quasi]

    @property
    def code_columns(self) -> list[str]:
        """Columns that hold the codes of the quasi-identifiers."""
        return [f"{OWN}quasi_{number}" for number in range(len(self.axes))]

    @property
    def sensitive_columns(self) -> list[str]:
        """Columns that hold the codes of the sensitive columns, if the algorithm asks for them."""
        return [f"{OWN}sensitive_{number}" for number in range(len(self.sensitive))]


def facts_of(parts: int) -> dict[str, str]:
    """What a release in partitions reports of them."""
    return {"partitions": f"{parts:,}, each clustered by itself"}
