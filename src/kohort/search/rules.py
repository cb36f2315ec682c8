"""Promises -> the form that local search follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kohort.privacy import Promise

if TYPE_CHECKING:
    from kohort.kernels.search.rules import Rules


def rules_of(promises: Sequence[Promise], records: int) -> Rules:
    """All rules of some promises about a table with this number of records."""
    from kohort.kernels.search.rules import Rules

    rules = [(rule, promise) for promise in promises for rule in promise.model.rules(promise.table)]
    # Lists come after all counts.
    runs = {
        (rule.lists, promise.model.columns): promise for rule, promise in sorted(rules, key=lambda one: one[0].lists)
    }
    counted = sum(not lists for lists, _ in runs)
    sizes = [promise.table.size for promise in runs.values()]
    first = np.cumsum([0, *sizes[:counted], *(2 * min(size, records) + 1 for size in sizes[counted:])])
    values = np.empty((records, len(runs)), np.int32)
    for index, promise in enumerate(runs.values()):
        values[:, index] = promise.values
    table = np.zeros((len(rules) + 1, 5), np.int64)
    for place, (rule, promise) in enumerate(rules):
        run = [*runs].index((rule.lists, promise.model.columns))
        table[place, :3] = rule.kind, first[run], first[run + 1]
        table[place + 1, 3:] = table[place, 3:] + (len(rule.whole), len(rule.real))
    return Rules(
        table=table,
        whole=np.concatenate([np.empty(0, np.int64), *(rule.whole for rule, _ in rules)]),
        real=np.concatenate([np.empty(0), *(rule.real for rule, _ in rules)]),
        values=values[:, :counted] + first[:counted].astype(np.int32),
        listed=np.ascontiguousarray(values[:, counted:]),
        lists=first[counted:-1].astype(np.int64),
        alike=_alike(values),
        width=int(first[-1]),
    )


def _alike(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """A number for each row, the same for those that are the same."""
    number = np.zeros(len(values), np.int64)
    for column in values.T:
        number = np.unique(number * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].reshape(-1)
    return number.astype(np.int32)
