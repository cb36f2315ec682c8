"""What an algorithm is: codes in, a box for every record out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from kohort.encode import Axis, Codes
from kohort.errors import PolicyError
from kohort.measures.base import Measure
from kohort.policy import Policy
from kohort.policy.sections import Anonymity
from kohort.population import Coverage
from kohort.privacy import Promise
from kohort.registry import Registry
from kohort.solution import Solution

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

Progress = Callable[[float], None]
"""Told the share of the work that is done, 0 to 1."""


@dataclass(frozen=True)
class Task:
    """Everything that an algorithm works on."""

    codes: Codes
    measure: Measure
    costs: Costs
    k: int
    rng: np.random.Generator
    progress: Progress
    sensitive: Codes | None = None
    """The sensitive columns, encoded like quasi-identifiers; for algorithms that ask for them."""
    promises: tuple[Promise, ...] = ()
    """Promises about sensitive values. An algorithm may look at them; what it breaks is repaired after it."""
    coverages: tuple[Coverage, ...] = ()
    """Promises about a population. What an algorithm breaks is repaired after it."""
    allowance: int = 0
    """Records that may be suppressed."""
    seconds: float | None = None
    """Time that a search may take, if the policy gives it one."""
    records: int = 0
    """Records of the whole table, if these are a part of one: a search is as long as it would be there."""
    threads: int = 0
    """For a search; all cores that this process may use when 0. They have no influence on the result."""
    note: Callable[[str], None] = lambda text: None
    """Told what is worth showing beside the progress, such as the loss so far."""

    def sensitive_column(self, name: str) -> tuple[Axis, NDArray[np.int32]]:
        """Axis and codes of a sensitive column."""
        assert self.sensitive is not None
        [index] = [j for j, axis in enumerate(self.sensitive.axes) if axis.name == name]
        return self.sensitive.axes[index], np.ascontiguousarray(self.sensitive.array[:, index])


class Algorithm(ABC):
    """A way to make records alike. Its dataclass fields are its parameters."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    recoding: ClassVar[str]
    guarantee: ClassVar[str]
    complexity: ClassVar[str]
    enforces: ClassVar[frozenset[str]]
    """Names of the privacy models it enforces; a policy with any other is refused before work."""
    anonymity: ClassVar[Anonymity] = "classes"
    """What `k` means in its releases; a policy that says anything else is refused before work."""
    searches: ClassVar[bool] = False
    """Whether it is a search that the policy's budget can end."""
    uses_sensitive: ClassVar[bool] = False
    """Whether it looks at sensitive columns."""

    def refuses(self, policy: Policy) -> list[str]:
        """Sentences on why it cannot honour a policy, known before the table is read."""
        if self.uses_sensitive and not policy.having_role("sensitive"):
            return [
                f"algorithm {self.name!r} needs a sensitive column; give one the role, or choose another algorithm."
            ]
        return []

    def wants_sensitive(self, policy: Policy) -> bool:
        """Whether the sensitive columns are to be encoded for it."""
        del policy
        return self.uses_sensitive

    def tables(self, policy: Policy) -> tuple[str, ...]:
        """Names of the tables of its release, for their files; empty for one table."""
        del policy
        return ()

    @abstractmethod
    def solve(self, task: Task) -> Solution:
        """Find a box for every record."""


class Clusterer(Algorithm):
    """An algorithm that only groups records: each is published as the smallest box of its group."""

    def solve(self, task: Task) -> Solution:
        """Find a box for every record."""
        return Solution.of_labels(task.codes, self.cluster(task))

    @abstractmethod
    def cluster(self, task: Task) -> NDArray[np.int32]:
        """Label every record with its cluster, 0, 1, 2, ...; -1 suppresses it."""


def chosen_sensitive(policy: Policy, algorithm: str, column: str | None) -> str:
    """The sensitive column that a parameter names, or the only one.

    Raises
    ------
    PolicyError
        When there is none, or none of that name, or several to choose from.
    """
    there = policy.having_role("sensitive")
    if column is not None and column not in there:
        raise PolicyError(f"algorithm {algorithm!r}: column {column!r} is not a sensitive column of the policy.")
    if column is None and len(there) != 1:
        raise PolicyError(
            f"algorithm {algorithm!r} works on one sensitive column and the policy has {len(there)}; "
            "name it with the parameter 'column'."
        )
    return column if column is not None else there[0]


ALGORITHMS: Registry[Algorithm] = Registry("algorithm")
