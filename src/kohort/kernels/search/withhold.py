"""Suppression that pays: records whose withholding makes the total loss fall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.jit import inner, kernel
from kohort.kernels.search.spans import cost_of, cost_with
from kohort.kernels.search.state import HIGH, HIGH2, LOW, LOW2, refresh


@inner
def _best_leaver(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    cluster,  # IN   int
    boxes,  # TMP  int32[4, d]
    state,  # IN   State
):
    """Find the member whose leaving saves the cluster most; returns its place, and what is saved."""
    flat, offset, size, full, tables, lines = spans
    _, members, sizes, cost, ends, _ = state
    lo, hi = boxes[0], boxes[1]
    low, low2, high, high2 = ends[cluster, LOW], ends[cluster, LOW2], ends[cluster, HIGH], ends[cluster, HIGH2]
    n = sizes[cluster]
    best = -1
    most = np.int64(-1)
    for index in range(n):
        row = places[members[cluster, index]]
        for axis in range(row.shape[0]):
            lo[axis] = low2[axis] if row[axis] == low[axis] else low[axis]
            hi[axis] = high2[axis] if row[axis] == high[axis] else high[axis]
        saved = n * cost[cluster] - (n - 1) * cost_of(flat, offset, size, full, tables, lines, lo, hi)
        if saved > most:
            best, most = index, saved
    return best, most


class Moves(NamedTuple):
    """Where the members of a cluster would go, and what the clusters that take them in would be."""

    target: NDArray[np.int32]
    """Cluster of each member; -1 for nowhere."""
    cluster: NDArray[np.int32]
    """The clusters that take somebody in, with their boxes, sizes and costs then."""
    lows: NDArray[np.int32]
    highs: NDArray[np.int32]
    sizes: NDArray[np.int64]
    cost: NDArray[np.int64]


@inner
def _dissolved(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    everything,  # IN   int, cost of a record that is withheld
    cluster,  # IN   int
    nearness,  # IN   Nearness
    state,  # IN   State
    moves,  # OUT  Moves
):
    """Find a place for every member of a cluster in clusters near it, or none if that costs less.

    Returns what it costs, the number of clusters that take somebody in, and of members that nobody does.
    """
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends, _ = state
    row_of, near, first, _, order = nearness
    largest = members.shape[1]
    total = np.int64(0)
    hosts = 0
    lost = 0
    for index in range(sizes[cluster]):
        record = members[cluster, index]
        row = places[record]
        best = -1
        least = everything
        best_cost = np.int64(0)
        for place in range(near.shape[1]):
            other = near[row_of[record], place]
            if other < 0:
                break
            there = labels[order[first[other]]]
            if there == cluster or there < 0:
                continue
            host = 0
            while host < hosts and moves.cluster[host] != there:
                host += 1
            if host < hosts:
                count, now = moves.sizes[host], moves.cost[host]
                grown = cost_with(flat, offset, size, full, tables, lines, moves.lows[host], moves.highs[host], row)
            else:
                count, now = sizes[there], cost[there]
                grown = cost_with(flat, offset, size, full, tables, lines, ends[there, LOW], ends[there, HIGH], row)
            more = (count + 1) * grown - count * now
            if count < largest and more < least:
                best, least, best_cost = there, more, grown
        total += least
        moves.target[index] = best
        if best < 0:
            lost += 1
            continue
        host = 0
        while host < hosts and moves.cluster[host] != best:
            host += 1
        if host == hosts:
            hosts += 1
            moves.cluster[host] = best
            moves.sizes[host] = sizes[best]
            moves.lows[host] = ends[best, LOW]
            moves.highs[host] = ends[best, HIGH]
        moves.sizes[host] += 1
        moves.cost[host] = best_cost
        for axis in range(row.shape[0]):
            moves.lows[host, axis] = min(moves.lows[host, axis], row[axis])
            moves.highs[host, axis] = max(moves.highs[host, axis], row[axis])
    return total, hosts, lost


@kernel
def withhold(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    everything,  # IN   int, cost of a record that is withheld
    allowance,  # IN   int, records that may be
    clusters,  # IN   int64[], those that lose most first
    nearness,  # IN   Nearness
    state,  # IN/OUT State; the label of a record that is withheld becomes -1
):
    """Withhold records where that makes the total loss fall; returns how many.

    A member leaves a cluster that has more than k; or a cluster is dissolved, and every member goes to a cluster
    near it or is withheld. A record that is withheld costs as much as a box can.
    """
    labels, members, sizes, cost, _, _ = state
    d = places.shape[1]
    largest = members.shape[1]
    boxes = np.empty((4, d), np.int32)
    moves = Moves(
        np.empty(largest, np.int32),
        np.empty(largest, np.int32),
        np.empty((largest, d), np.int32),
        np.empty((largest, d), np.int32),
        np.empty(largest, np.int64),
        np.empty(largest, np.int64),
    )
    gone = 0
    for cluster in clusters:
        n = sizes[cluster]
        # Whoever leaves saves no more than the whole loss of the cluster.
        if gone == allowance or n * cost[cluster] <= everything:
            continue
        best, saved = _best_leaver(places, spans, cluster, boxes, state)
        saved -= everything
        paid, hosts, lost = _dissolved(places, spans, everything, cluster, nearness, state, moves)
        if lost > 0 and lost <= allowance - gone and n * cost[cluster] - paid > (saved if n > k else 0):
            for index in range(n):
                record = members[cluster, index]
                there = moves.target[index]
                labels[record] = there
                if there >= 0:
                    members[there, sizes[there]] = record
                    sizes[there] += 1
            sizes[cluster] = 0
            for host in range(hosts):
                there = moves.cluster[host]
                refresh(places, spans, np.int64(there), state)
            refresh(places, spans, cluster, state)
            gone += lost
        elif n > k and saved > 0:
            labels[members[cluster, best]] = -1
            members[cluster, best] = members[cluster, n - 1]
            sizes[cluster] = n - 1
            refresh(places, spans, cluster, state)
            gone += 1
    return gone
