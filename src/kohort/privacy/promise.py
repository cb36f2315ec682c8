"""A promise about one table: a model, the table's sensitive values, and the value of every record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohort.privacy.base import Histogram, SensitiveModel
from kohort.privacy.reference import Reference


@dataclass(frozen=True)
class Promise:
    """What a model promises about the records of one table."""

    model: SensitiveModel
    table: Reference
    values: NDArray[np.int64]
    """Number of each record's value in `table`; of no record yet, where these are somewhere else."""
    column: str = ""
    """The column that holds these numbers, where the records are in a frame."""

    def kept(self, labels: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which classes keep it; they are numbered 0, 1, 2, ... and every record has one."""
        return self.model.keeps(Histogram.of(labels, self.values), self.table)

    def of_records(self, values: NDArray[np.integer]) -> Promise:
        """The same promise about records that are here, by the numbers of their values."""
        return Promise(self.model, self.table, values.astype(np.int64))

    def among(self, records: NDArray[np.bool_]) -> Promise:
        """The same promise about some of the records: the others are not published."""
        if records.all():
            return self
        table, values = self.table.of_records(self.values[records])
        return Promise(self.model, table, values)
