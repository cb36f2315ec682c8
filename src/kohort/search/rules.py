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
    first = np.cumsum([0, *(promise.table.size for promise in tables.values())])
    values = np.empty((records, len(tables)), np.int32)
    for index, promise in enumerate(tables.values()):
        values[:, index] = first[index] + promise.values
    table = np.zeros((len(rules) + 1, 5), np.int64)
    for place, (rule, column) in enumerate(rules):
        table[place, :3] = rule.kind, first[column], first[column + 1]
        table[place + 1, 3:] = table[place, 3:] + (len(rule.whole), len(rule.real))
    return Rules(
        table=table,
        whole=np.concatenate([np.empty(0, np.int64), *(rule.whole for rule, _ in rules)]),
        real=np.concatenate([np.empty(0), *(rule.real for rule, _ in rules)]),
        values=values,
        alike=np.unique(values, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32),
        width=int(first[-1]),
    )
