"""What an algorithm is: codes in, a box for every record out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.codes.boxes import Solution
from kohort.common.registry import Registry
from kohort.errors import InfeasibleError, PolicyError
from kohort.policy import Policy
from kohort.policy.parameters import Checked
from kohort.policy.sections import Anonymity
from kohort.search.task import Task


class Algorithm(Checked, ABC):
    """A way to make records alike. Its dataclass fields are its parameters."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    recoding: ClassVar[str] = "local"
    guarantee: ClassVar[str]
    complexity: ClassVar[str]
    keeps: ClassVar[frozenset[str]] = frozenset({"k-anonymity"})
    """Privacy models that its result keeps by itself. Repair keeps others, where the release is in classes."""
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
        return self.uses_sensitive

    def tables(self, policy: Policy) -> tuple[str, ...]:
        """Names of the tables of its release, for their files; empty for one table."""
        return ()

    @abstractmethod
    def solve(self, task: Task) -> Solution:
        """Find a box for every record."""


class Clusterer(Algorithm):
    """An algorithm that only groups records: each is published as the smallest box of its group."""

    @override
    def solve(self, task: Task) -> Solution:
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


def refuse_long(name: str, work: int, limit: int, speed: int, what: str, instead: str) -> None:
    """Refuse a table that would take an algorithm too long, before any work is done.

    Parameters
    ----------
    name : str
        The algorithm.
    work, limit, speed : int
        How much work it has, how much its policy allows, and how much is done in a second.
    what, instead : str
        What it would have to do, and what could be used instead.
    """
    if work > limit:
        minutes = max(1, round(work / speed / 60))
        raise InfeasibleError(
            f"algorithm {name!r} {what}, about {minutes:,} min of work: {work:,} steps, and its limit is {limit:,}; "
            f"raise 'limit' in the policy, or {instead}."
        )
