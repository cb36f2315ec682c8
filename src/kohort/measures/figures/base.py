"""What a figure is: classes in, numbers out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kohort.codes.encode import Axis, Codes
from kohort.common.registry import Registry


@dataclass(frozen=True)
class Partition:
    """The published records, parted into classes of those that are published alike."""

    labels: NDArray[np.int64]
    """Class of each published record, 0, 1, 2, ...; every class has a record."""
    axes: tuple[Axis, ...]
    """The quasi-identifiers."""
    lo: NDArray[np.int32]
    """Smallest code of what is published of each record, shape (records, axes)."""
    hi: NDArray[np.int32]
    """Largest code."""
    sensitive: Codes | None
    """Sensitive columns of the published records, if there are any."""
    k: int
    suppressed: int
    """Number of further records that are not published."""
    original: NDArray[np.int32] | None = None
    """Codes of the records of the original, if they are at hand; nobody says which of them is which published one."""

    @property
    def records(self) -> int:
        """Records of the original table."""
        return len(self.labels) + self.suppressed

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each class."""
        return np.bincount(self.labels).astype(np.int64)

    @cached_property
    def someone(self) -> NDArray[np.int64]:
        """A record of each class; their boxes are equal."""
        return np.unique(self.labels, return_index=True)[1]


class Figure(ABC):
    """Something to know about the classes of a release."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    uses_sensitive: ClassVar[bool] = False
    """Whether it needs a sensitive column; left out where there is none."""

    @abstractmethod
    def of(self, partition: Partition) -> dict[str, Any]:
        """Work it out: numbers, or lists of them, by what they are called."""


FIGURES: Registry[Figure] = Registry("figure")


def figures_of(
    partition: Partition, parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, dict[str, Any]]:
    """Every figure that can be computed for a partition, by its name.

    Parameters
    ----------
    parameters : mapping of mappings, optional
        Parameters of figures, by their names.
    """
    return {
        name: FIGURES.make(name, (parameters or {}).get(name, {})).of(partition)
        for name, figure in FIGURES.items()
        if partition.sensitive is not None or not figure.uses_sensitive
    }
