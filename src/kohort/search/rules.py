"""Promises -> the form that local search follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kohort.privacy import Promise

if TYPE_CHECKING:
    from kohort.kernels.rules import Rules


def rules_of(promises: Sequence[Promise], records: int) -> Rules:
    """All rules of some promises about a table of so many records."""
    from kohort.kernels.rules import Rules

    tables = {promise.model.columns: promise for promise in promises}
    column_of = {columns: index for index, columns in enumerate(tables)}
    rules = [
        (rule, column_of[promise.model.columns]) for promise in promises for rule in promise.model.rules(promise.table)
    ]
    values = np.empty((records, len(tables)), np.int32)
    for index, promise in enumerate(tables.values()):
        values[:, index] = promise.values
    return Rules(
        kind=np.array([rule.kind for rule, _ in rules], np.int64),
        column=np.array([column for _, column in rules], np.int64),
        first=np.cumsum([0, *(promise.table.size for promise in tables.values())]),
        whole=np.concatenate([np.empty(0, np.int64), *(rule.whole for rule, _ in rules)]),
        real=np.concatenate([np.empty(0), *(rule.real for rule, _ in rules)]),
        whole_at=np.cumsum([0, *(len(rule.whole) for rule, _ in rules)]),
        real_at=np.cumsum([0, *(len(rule.real) for rule, _ in rules)]),
        values=values,
    )
