"""Promises about sensitive numbers: they refuse columns without them."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.policy import Policy
from kohort.privacy.base import Histogram, SensitiveModel
from kohort.privacy.reference import Reference


class NumericModel(SensitiveModel):
    """A promise about the sensitive numbers or dates in every class; no class of other values keeps it."""

    column: str

    @override
    def refuses_policy(self, policy: Policy) -> str | None:
        if policy.columns[self.column].type != "string":
            return None
        return (
            f'it needs numbers or dates, and column {self.column!r} has type = "string"; choose another model or type'
        )

    @override
    def keeps(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        return self.kept(classes, table) if table.column.is_numeric else np.zeros(classes.classes, bool)

    @override
    def refuses_values(self, table: Reference, allowance: int = 0) -> str | None:
        if table.column.is_numeric:
            return self.refuses_numbers(table, allowance)
        return (
            f"the values of column {self.column!r} are not all numbers, or all dates; "
            "choose another model, or list what is no number in [input] missing"
        )

    @abstractmethod
    def kept(self, classes: Histogram, table: Reference) -> NDArray[np.bool_]:
        """`keeps`, for numbers."""

    @abstractmethod
    def refuses_numbers(self, table: Reference, allowance: int) -> str | None:
        """`refuses_values`, for numbers."""
