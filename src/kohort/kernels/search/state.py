"""A partition in the form that local search changes: members, boxes, and boxes without the member at one end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import inner, kernel
from kohort.kernels.search.rules import broken_by, count_records
from kohort.kernels.search.spans import cost_of

# Ends of a box: smallest and second smallest code, largest and second largest.
LOW, LOW2, HIGH, HIGH2 = 0, 1, 2, 3
MEMO = 64
"""Kinds of records for which it is remembered how much they repair, while a group looks for one that does."""


class State(NamedTuple):
    """A partition with k to 2k - 1 records in every cluster; a slot without members is free."""

    labels: NDArray[np.int32]
    """Cluster of each record."""
    members: NDArray[np.int32]
    """Records of each cluster, shape (slots, 2k - 1)."""
    sizes: NDArray[np.int64]
    cost: NDArray[np.int64]
    """Cost of the box of each cluster."""
    ends: NDArray[np.int32]
    """Shape (slots, 4, d): what the box is, and what it is without the record at one end."""
    broken: NDArray[np.int64]
    """By how much each cluster breaks the rules, if there are any."""


def empty_state(
    labels: NDArray[np.int32],
    slots: int,
    largest: int,
    d: int,
) -> State:
    """A partition that waits for its records to join the clusters of their labels, at most `largest` each."""
    return State(
        labels=labels,
        members=np.zeros((slots, largest), np.int32),
        sizes=np.zeros(slots, np.int64),
        cost=np.zeros(slots, np.int64),
        ends=np.zeros((slots, 4, d), np.int32),
        broken=np.zeros(slots, np.int64),
    )


class Tallies(NamedTuple):
    """Room to count the values of clusters in."""

    counts: NDArray[np.int64]
    """One row for each cluster, shape (4, width)."""
    work: NDArray[np.int64]
    counted: NDArray[np.bool_]
    """Whether the clusters of an exchange have been counted: between two that keep the rules that is not done before a
    change would be chosen. Shape (1,)."""
    memo: NDArray[np.int64]
    """Which kind of records was looked at last, and what came out of it; shape (2, MEMO)."""


@inner
def empty_tallies(
    width,  # IN   int, counts of all columns together
):
    """Room without anything in it."""
    return Tallies(
        np.empty((4, width), np.int64),
        np.empty(width + 1, np.int64),
        np.zeros(1, np.bool_),
        np.empty((2, MEMO), np.int64),
    )


@inner
def refresh(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    cluster,  # IN   int64
    state,  # IN/OUT State
):
    """Compute the box of a cluster from its members."""
    flat, offset, size, full, tables, lines = spans
    _, members, sizes, cost, ends, _ = state
    count = sizes[cluster]
    low, low2, high, high2 = ends[cluster, LOW], ends[cluster, LOW2], ends[cluster, HIGH], ends[cluster, HIGH2]
    for axis in range(low.shape[0]):
        low[axis] = low2[axis] = 2**31 - 1
        high[axis] = high2[axis] = -1
    for index in range(count):
        row = places[members[cluster, index]]
        for axis in range(low.shape[0]):
            place = row[axis]
            low2[axis] = min(low2[axis], max(low[axis], place))
            low[axis] = min(low[axis], place)
            high2[axis] = max(high2[axis], min(high[axis], place))
            high[axis] = max(high[axis], place)
    cost[cluster] = cost_of(flat, offset, size, full, tables, lines, low, high) if count > 0 else np.int64(0)


@kernel
def gather(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    state,  # IN/OUT State, with labels only
):
    """Let every record join the cluster of its label; -1 is none."""
    labels, members, sizes, _, _, _ = state
    for record in range(places.shape[0]):
        cluster = labels[record]
        if cluster < 0:
            continue
        members[cluster, sizes[cluster]] = record
        sizes[cluster] += 1
    for cluster in range(sizes.shape[0]):
        refresh(places, spans, cluster, state)


@inner
def broken_alone(
    rules,  # IN   Rules
    cluster,  # IN   int
    members,  # IN   State, one by one
    sizes,
    counts,  # TMP  int64[width]
    work,  # TMP  int64[width + 1]
):
    """By how much one cluster breaks the rules."""
    size = sizes[cluster]
    count_records(rules.values, rules.listed, rules.lists, members[cluster, :size], counts)
    return broken_by(rules.table, rules.whole, rules.real, counts, size, work)


@kernel
def judge(
    rules,  # IN   Rules
    state,  # IN/OUT State
):
    """Compute by how much each cluster breaks the rules."""
    counts, work = np.empty(rules.width, np.int64), np.empty(rules.width + 1, np.int64)
    for cluster in range(state.sizes.shape[0]):
        state.broken[cluster] = 0
        if state.sizes[cluster] > 0:
            state.broken[cluster] = broken_alone(rules, cluster, state.members, state.sizes, counts, work)


@kernel
def loss_of(
    state,  # IN   State
):
    """Sum of size times cost over all clusters."""
    total = np.int64(0)
    for cluster in range(state.sizes.shape[0]):
        total += state.sizes[cluster] * state.cost[cluster]
    return total
