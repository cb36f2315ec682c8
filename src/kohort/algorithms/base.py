"""What a clustering algorithm is: codes in, a label per record out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from kohort.encode import Codes
from kohort.measures.base import Measure
from kohort.registry import Registry

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


class Algorithm(ABC):
    """A way to group similar records. Its dataclass fields are its parameters."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    recoding: ClassVar[str]
    guarantee: ClassVar[str]
    complexity: ClassVar[str]
    enforces: ClassVar[frozenset[str]]
    """Names of the privacy models it enforces; a policy with any other is refused before work."""

    @abstractmethod
    def cluster(self, task: Task) -> NDArray[np.int32]:
        """Label every record with its cluster, 0, 1, 2, ..."""


ALGORITHMS: Registry[Algorithm] = Registry("algorithm")
