"""Local search on a partition: neighbouring clusters exchange records, or are dealt anew.

The loss of a cluster is its size times the cost of its box. A step looks at two or three
neighbouring clusters and draws one of all the changes it has weighed by heat bath: a change that
raises the loss by x has the weight exp(-x / temperature), no change the weight 1.

Steps come in rounds. The steps of a round are drawn from the state before it; each claims its
clusters, a cluster goes to the claim with the highest random rank, and the steps that have all of
theirs are carried out. They share no cluster and no record, so the order in which they are done,
and by how many threads, makes no difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import inlined, kernel
from kohort.kernels.random import below, mixed, share
from kohort.kernels.search.deal import deal, empty_pool
from kohort.kernels.search.exchange import exchange
from kohort.kernels.search.state import empty_tallies

ATTEMPTS = 4
"""Draws of a cluster before a step gives up."""
HOPS = 12
"""Longest walk from one near record to the next in search of another cluster."""
LEAP = 0.5
"""How often a cluster that breaks a rule looks further away: those around it may be as bad."""
EXCHANGE = -2
"""In place of a spare slot: the step exchanges records, it does not deal them anew."""


class Nearness(NamedTuple):
    """Near rows of every distinct row, and the records that have a row."""

    row: NDArray[np.int32]
    """Distinct row of each record."""
    near: NDArray[np.int32]
    """Near rows of each row, nearest first, shape (rows, count)."""
    first: NDArray[np.int64]
    """Where the records of a row begin in `order`."""
    counts: NDArray[np.int64]
    order: NDArray[np.int64]


class Round(NamedTuple):
    """The steps of one round."""

    record: NDArray[np.int32]
    """The record that a step is about."""
    clusters: NDArray[np.int32]
    """The clusters that it needs, -1 where it needs fewer; shape (steps, 3)."""
    spare: NDArray[np.int32]
    """A free slot, or -1; EXCHANGE for a step that exchanges records."""
    rank: NDArray[np.uint64]
    """Random, and the seed of the step."""
    claimed: NDArray[np.uint64]
    """Highest rank that claims each cluster."""
    won: NDArray[np.int32]
    """Steps to be carried out."""


def empty_round(steps: int, slots: int) -> Round:
    """A round that waits for its steps."""
    return Round(
        record=np.empty(steps, np.int32),
        clusters=np.empty((steps, 3), np.int32),
        spare=np.empty(steps, np.int32),
        rank=np.empty(steps, np.uint64),
        claimed=np.zeros(slots, np.uint64),
        won=np.empty(steps, np.int32),
    )


@inlined
def _near_record(
    record,  # IN   int
    row_of,  # IN   Nearness, one by one
    near,
    first,
    counts,
    order,
    random,  # IN/OUT uint64[1]
):
    """Draw a record near another one, nearer ones more often; itself if there is none."""
    place = share(random)
    row = near[row_of[record], np.int64(place * place * near.shape[1])]
    other = np.int64(record)
    if row >= 0:
        other = order[first[row] + below(random, counts[row])]
    return other


@inlined
def _far_record(
    record,  # IN   int
    n,  # IN   int, number of records, which are sorted
    random,  # IN/OUT uint64[1]
):
    """Draw a record at any distance in the order of all, from one place to all of them; each scale is as likely."""
    leap = np.int64(float(n) ** share(random))
    return (record + (leap if share(random) < 0.5 else n - leap)) % n


@kernel
def draw_round(
    number,  # IN   int, which round
    seed,  # IN   uint64
    dealing,  # IN   float, share of steps that deal anew
    nearness,  # IN   Nearness
    state,  # IN   State
    free,  # IN   int32[], free slots
    steps,  # OUT  Round
):
    """Draw the steps of a round and let them claim their clusters; returns how many have theirs."""
    row_of, near, first, counts, order = nearness
    labels, _members, _sizes, cost, _ends, broken = state
    records, clusters, spare, ranks, claimed, won = steps
    random = np.empty(1, np.uint64)
    n = labels.shape[0]
    base = mixed(seed + mixed(np.uint64(number)))
    claimed[:] = np.uint64(0)
    spares = 0
    for step in range(records.shape[0]):
        # The rank is random and not 0, and no two steps have the same: the last bits are the step's number.
        rank = (mixed(base + np.uint64(step)) & ~np.uint64(0xFFFFFF)) | np.uint64(step + 1)
        random[0] = rank
        ranks[step] = rank
        clusters[step, 0] = clusters[step, 1] = clusters[step, 2] = -1
        spare[step] = EXCHANGE
        record = below(random, n)
        for _ in range(ATTEMPTS):
            if labels[record] >= 0 and (cost[labels[record]] > 0 or broken[labels[record]] > 0):
                break
            record = below(random, n)
        here = labels[record]
        if here < 0:
            continue
        there = here
        other = np.int64(record)
        if broken[here] > 0 and share(random) < LEAP:
            other = _far_record(other, n, random)
            there = labels[other]
        for _ in range(HOPS):
            if there != here and there >= 0:
                break
            other = _near_record(other, row_of, near, first, counts, order, random)
            there = labels[other]
        if there == here or there < 0:
            continue
        records[step] = record
        clusters[step, 0] = here
        clusters[step, 1] = there
        if share(random) < dealing:
            spare[step] = -1
            if spares < free.shape[0]:
                spare[step] = free[spares]
                spares += 1
            if share(random) < 0.5:
                third = labels[_near_record(other, row_of, near, first, counts, order, random)]
                if third != here and third != there and third >= 0:
                    clusters[step, 2] = third
        for place in range(3):
            cluster = clusters[step, place]
            if cluster >= 0:
                claimed[cluster] = max(claimed[cluster], rank)
    count = 0
    for step in range(records.shape[0]):
        if clusters[step, 0] < 0:
            continue
        has_all = True
        for place in range(3):
            cluster = clusters[step, place]
            if cluster >= 0 and claimed[cluster] != ranks[step]:
                has_all = False
        if has_all:
            won[count] = step
            count += 1
    return count


@kernel
def carry_out(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    rules,  # IN   Rules, or None
    temperature,  # IN   float
    steps,  # IN   Round
    start,  # IN   int, first of the steps that won
    stop,  # IN   int, the one after the last
    state,  # IN/OUT State
):
    """Carry out some steps of a round."""
    d = places.shape[1]
    random = np.empty(1, np.uint64)
    boxes = np.empty((4, d), np.int32)
    width = 0
    if rules is not None:
        width = rules.width
    tallies = empty_tallies(width)
    pool = empty_pool(3 * state.members.shape[1], d)
    for index in range(start, stop):
        step = steps.won[index]
        random[0] = ~steps.rank[step]
        if steps.spare[step] == EXCHANGE:
            record, there = steps.record[step], steps.clusters[step, 1]
            exchange(places, spans, k, rules, temperature, record, there, random, boxes, tallies, state)
        else:
            clusters, spare = steps.clusters[step], steps.spare[step]
            deal(places, spans, k, rules, temperature, clusters, spare, random, pool, tallies, state)
