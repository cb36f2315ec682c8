"""What is to be solved: codes, costs and promises, for algorithms, search and repair alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Axis, Codes
from kohort.codes.population import Coverage
from kohort.measures.base import Measure
from kohort.privacy import Promise

if TYPE_CHECKING:
    from kohort.kernels.costs import Costs

Progress = Callable[[float], None]
"""Called with the share of the work that is done, 0 to 1."""


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
    """Called with what is worth showing beside the progress, such as the loss so far."""

    def sensitive_column(self, name: str) -> tuple[Axis, NDArray[np.int32]]:
        """Axis and codes of a sensitive column."""
        assert self.sensitive is not None
        [index] = [j for j, axis in enumerate(self.sensitive.axes) if axis.name == name]
        return self.sensitive.axes[index], np.ascontiguousarray(self.sensitive.array[:, index])
