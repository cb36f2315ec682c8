"""The lower bound on the loss of any release of a table."""

from __future__ import annotations

import numpy as np

from kohort.codes.encode import Codes
from kohort.measures.base import Measure
from kohort.measures.bounds.lower import lower_bound
from kohort.measures.loss import star_cost
from kohort.policy import Policy


def bound_of_codes(codes: Codes, how: Measure, policy: Policy, records: int, seed: int | None) -> float | None:
    """What no release in classes can lose less than; None where the release is of another kind, or nobody asks.

    Parameters
    ----------
    codes : Codes
        Of the records that take part.
    records : int
        Records of the table; those that do not take part are suppressed whatever is done.
    """
    effort, k, usable = policy.algorithm.bound_effort, policy.privacy.k, len(codes.array)
    if not effort or policy.privacy.anonymity != "classes" or k > usable:
        return None
    found = lower_bound(codes, how, k, np.random.default_rng(seed), effort)
    weight = sum(axis.weight for axis in codes.axes)
    star = sum(axis.weight * star_cost(how, axis) for axis in codes.axes) / weight
    return (found.value * usable + star * (records - usable)) / records
