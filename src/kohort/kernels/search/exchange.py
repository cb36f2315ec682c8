"""A step of local search that exchanges records of two clusters."""

# ruff: noqa: SIM102 - numba leaves out what follows a bare `if rules is not None` when there are none

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kohort.kernels.boxes import NEVER
from kohort.kernels.jit import inlined, inner
from kohort.kernels.random import share
from kohort.kernels.search.rules import add_record, broken_by, count_records
from kohort.kernels.search.spans import cost_of, cost_with
from kohort.kernels.search.state import HIGH, HIGH2, LOW, LOW2, broken_alone, refresh

PREFERENCE = 1e9
"""How much rather a change is chosen by which clusters break the rules less."""
NEGLIGIBLE = 10
"""A change with a weight of less than exp(-10) is not looked at any closer."""


class Change(NamedTuple):
    """Records that two clusters might exchange."""

    here: int
    there: int
    leaves: int
    """A record that goes from here to there, or -1."""
    comes: int
    """A record that comes from there, or -1."""


@inner
def _broken_after(
    rules,  # IN   Rules
    broken,  # IN   int, by how much the clusters break the rules now
    change,  # IN   Change
    state,  # IN   State
    tallies,  # IN/OUT Tallies, of here and there once they are counted
):
    """By how much two clusters break the rules after an exchange."""
    table, whole, real, values, listed, lists, alike, _ = rules
    here, there, leaves, comes = change
    members, sizes = state.members, state.sizes
    if leaves >= 0 and comes >= 0 and alike[leaves] == alike[comes]:
        return broken
    counts, counts_there, work, counted = tallies.counts[0], tallies.counts[1], tallies.work, tallies.counted
    n, m = sizes[here], sizes[there]
    if not counted[0]:
        count_records(values, listed, lists, members[here, :n], counts)
        count_records(values, listed, lists, members[there, :m], counts_there)
        counted[0] = True
    for back in (1, -1):
        if leaves >= 0:
            add_record(values, listed, lists, leaves, -back, counts)
            add_record(values, listed, lists, leaves, back, counts_there)
            n, m = n - back, m + back
        if comes >= 0:
            add_record(values, listed, lists, comes, back, counts)
            add_record(values, listed, lists, comes, -back, counts_there)
            n, m = n + back, m - back
        if back == 1:
            broken = broken_by(table, whole, real, counts, n, work)
            broken += broken_by(table, whole, real, counts_there, m, work)
    return broken


@inlined
def _favour(
    broken,  # IN   int, by how much rules are broken now
    after,  # IN   int, by how much after a change
):
    """What rules do to the weight of a change: never break more, rather break less."""
    if after > broken:
        return 0.0
    return 1.0 if after == broken else PREFERENCE


@inlined
def _weight(
    loss,  # IN   int, with the change
    now,  # IN   int, without it
    temperature,  # IN   float
):
    """How often a change is chosen, as a multiple of how often nothing is changed."""
    return math.exp(min((now - loss) / temperature, 50.0))


@inlined
def _without(
    row,  # IN   int32[d], a record of a cluster
    low,  # IN   int32[d], the ends of its box, and the ends next to them
    low2,  # IN   int32[d]
    high,  # IN   int32[d]
    high2,  # IN   int32[d]
    lo,  # OUT  int32[d]
    hi,  # OUT  int32[d]
):
    """The box of a cluster without a record."""
    for axis in range(row.shape[0]):
        place = row[axis]
        lo[axis] = low2[axis] if place == low[axis] else low[axis]
        hi[axis] = high2[axis] if place == high[axis] else high[axis]


@inner
def _drawn(
    rules,  # IN   Rules, or None
    loss,  # IN   int, with the change
    now,  # IN   int, without it
    temperature,  # IN   float
    broken,  # IN   int, by how much the clusters break the rules now
    change,  # IN   Change
    state,  # IN   State
    weight,  # IN   float, of all changes so far
    random,  # IN/OUT uint64[1]
    tallies,  # IN/OUT Tallies
):
    """Weigh a change and draw between it and all before; the weight of all, and whether it is chosen."""
    candidate = _weight(loss, now, temperature)
    if rules is not None:
        if broken > 0:
            after = _broken_after(rules, broken, change, state, tallies)
            candidate *= _favour(broken, after)
    weight += candidate
    chosen = share(random) * weight < candidate
    if rules is not None:
        # To look at the rules costs more than the rest, so only what would be chosen is looked at.
        if chosen and broken == 0:
            if _broken_after(rules, broken, change, state, tallies) != 0:
                return weight - candidate, False
    return weight, chosen


@inner
def _carry_out(
    record,  # IN   int
    there,  # IN   int, the other cluster
    chosen,  # IN   int, the place of a member there, if one comes
    goes,  # IN   bool, whether the record goes there
    comes,  # IN   bool, whether the member comes here
    labels,  # IN/OUT State, one by one
    members,
    sizes,
):
    """Move the record, the member, or both."""
    here = labels[record]
    n, m = sizes[here], sizes[there]
    mine = 0
    while members[here, mine] != record:
        mine += 1
    guest = members[there, chosen] if comes else -1
    if comes:
        labels[guest] = here
    if goes:
        labels[record] = there
    if goes and comes:
        members[here, mine], members[there, chosen] = guest, record
    elif goes:
        members[here, mine] = members[here, n - 1]
        members[there, m] = record
        sizes[here], sizes[there] = n - 1, m + 1
    else:
        members[there, chosen] = members[there, m - 1]
        members[here, n] = guest
        sizes[here], sizes[there] = n + 1, m - 1


@inner
def exchange(
    places,  # IN   int32[n, d]
    spans,  # IN   Spans
    k,  # IN   int
    rules,  # IN   Rules, or None, which leaves out all that is about them
    temperature,  # IN   float
    record,  # IN   int
    there,  # IN   int, the other cluster
    random,  # IN/OUT uint64[1]
    boxes,  # TMP  int32[4, d]
    tallies,  # TMP  Tallies
    state,  # IN/OUT State
):
    """Weigh every way to move the record there, a record from there, or to swap the two; draw one.

    Two clusters that break a rule change so that they break it less, whatever that costs, or not more. Clusters that
    break none never come to break one.
    """
    flat, offset, size, full, tables, lines = spans
    labels, members, sizes, cost, ends, breaks = state
    here = labels[record]
    row = places[record]
    n, m = sizes[here], sizes[there]
    largest = members.shape[1]
    broken = np.int64(0)
    if rules is not None:
        broken = breaks[here] + breaks[there]
        tallies.counted[0] = False
    lo, hi, lo_there, hi_there = boxes[0], boxes[1], boxes[2], boxes[3]
    low, low2, high, high2 = ends[here, LOW], ends[here, LOW2], ends[here, HIGH], ends[here, HIGH2]
    _without(row, low, low2, high, high2, lo, hi)
    alone = cost_of(flat, offset, size, full, tables, lines, lo, hi)
    now = n * cost[here] + m * cost[there]
    limit = now + np.int64(NEGLIGIBLE * temperature) if broken == 0 else NEVER
    weight = 1.0
    chosen = -1  # a member of the other cluster
    goes, comes = False, False
    low_there, low2_there = ends[there, LOW], ends[there, LOW2]
    high_there, high2_there = ends[there, HIGH], ends[there, HIGH2]
    if n > k and m < largest:
        loss = (n - 1) * alone
        loss += (m + 1) * cost_with(flat, offset, size, full, tables, lines, low_there, high_there, row)
        if loss <= limit:
            change = Change(here, there, np.int64(record), -1)
            weight, goes = _drawn(rules, loss, now, temperature, broken, change, state, weight, random, tallies)
    for index in range(m):
        guest = np.int64(members[there, index])
        other = places[guest]
        swapped = n * cost_with(flat, offset, size, full, tables, lines, lo, hi, other)
        may_come = m > k and n < largest
        if swapped > limit and not may_come:
            continue
        _without(other, low_there, low2_there, high_there, high2_there, lo_there, hi_there)
        if may_come:
            loss = (m - 1) * cost_of(flat, offset, size, full, tables, lines, lo_there, hi_there)
            loss += (n + 1) * cost_with(flat, offset, size, full, tables, lines, low, high, other)
            if loss <= limit:
                change = Change(here, there, -1, guest)
                weight, drawn = _drawn(rules, loss, now, temperature, broken, change, state, weight, random, tallies)
                if drawn:
                    chosen, goes, comes = index, False, True
        if swapped <= limit:
            loss = swapped + m * cost_with(flat, offset, size, full, tables, lines, lo_there, hi_there, row)
            if loss <= limit:
                change = Change(here, there, np.int64(record), guest)
                weight, drawn = _drawn(rules, loss, now, temperature, broken, change, state, weight, random, tallies)
                if drawn:
                    chosen, goes, comes = index, True, True
    if not goes and not comes:
        return
    _carry_out(record, there, chosen, goes, comes, labels, members, sizes)
    for cluster in (here, there):
        refresh(places, spans, np.int64(cluster), state)
        if rules is not None:
            if broken > 0:
                breaks[cluster] = broken_alone(rules, cluster, members, sizes, tallies.counts[0], tallies.work)
