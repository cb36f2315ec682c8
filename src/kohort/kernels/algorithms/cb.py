"""CB: divide a set by 2-means whose groups have at least k records each, again and again.

Records are given by their codes and by their *places*: on a LINE the position of the value in
fixed point, -1 for missing; on a taxonomy the code. A centre is a place per axis, so on a LINE
it may lie between two values, and in a taxonomy it is a leaf that need not occur.

Sensitive columns may ask for l-diversity: no value has more than a share of 1/l of a group. Their
values are numbers, too, one column of `values` and one l of `shares` for each promise.
"""

from __future__ import annotations

import numpy as np

from kohort.kernels.algorithms.divide import START, assign_between, finish_set, halve_set, widen
from kohort.kernels.costs import LINE, box_cost, box_cost_with, span_cost
from kohort.kernels.jit import kernel
from kohort.kernels.random import shuffle

FAR = 2**62
"""More than any loss."""


@kernel
def place_cost(
    costs,  # IN   Costs
    axis,  # IN   int
    here,  # IN   int, a place
    there,  # IN   int, another
):
    """Cost of one side of the box around two places."""
    if costs.kind[axis] != LINE:
        return span_cost(costs, axis, min(here, there), max(here, there))
    if (here < 0) != (there < 0):
        return costs.full[axis]
    return np.int32(abs(here - there))


@kernel
def mean_place(
    total,  # IN   int, sum of the positions that are not missing
    present,  # IN   int, how many there are
    size,  # IN   int, number of records
):
    """Mean position, rounded, halves up; missing (-1) if most positions are."""
    if 2 * present < size:
        return -1
    return (2 * total + present) // (2 * present)


@kernel
def _centre(
    missing,  # IN   int32[d], place of a missing value, or one that no record has
    places,  # IN   int32[n, d]
    members,  # IN   int32[size]
    part,  # IN   int32[n]
    side,  # IN   int, the group whose centre is wanted
    size,  # IN   int, its number of members
    centre,  # OUT  int32[d]
):
    """Mean place per axis: on lines the position, in a taxonomy the depth-first number of the leaf."""
    for axis in range(places.shape[1]):
        total = 0
        present = 0
        for record in members:
            place = places[record, axis]
            if part[record] == side and place != missing[axis]:
                total += place
                present += 1
        mean = mean_place(total, present, size)
        centre[axis] = mean if mean >= 0 else missing[axis]


@kernel
def _distance(
    costs,  # IN   Costs
    centre,  # IN   int32[d]
    place,  # IN   int32[d], of a record
):
    """Cost of the box around a centre and a record."""
    total = 0
    for axis in range(len(centre)):
        total += place_cost(costs, axis, centre[axis], place[axis])
    return total


@kernel
def _nearest(
    costs,  # IN   Costs
    places,  # IN   int32[n, d]
    members,  # IN   int32[size]
    centre,  # IN   int32[d]
    other,  # IN   int, a record that is not wanted
):
    """The member nearest to a centre, the first of equals."""
    least = np.int64(FAR)
    found = -1
    for record in members:
        if record != other:
            far = _distance(costs, centre, places[record])
            if far < least:
                least = far
                found = record
    return found


@kernel
def _assign(
    costs,  # IN   Costs
    places,  # IN   int32[n, d]
    members,  # IN   int32[size]
    centres,  # IN   int32[2, d]
    part,  # OUT  int32[n], 0 or 1 for each member
    sizes,  # OUT  int64[2]
):
    """Give every member to the nearer centre, a tie to the group that is smaller by now."""
    sizes[:] = 0
    for record in members:
        # How much further the second centre is.
        more = 0
        for axis in range(places.shape[1]):
            place = places[record, axis]
            if centres[0, axis] != centres[1, axis]:
                more += place_cost(costs, axis, centres[1, axis], place)
                more -= place_cost(costs, axis, centres[0, axis], place)
        side = 1 if more < 0 or (more == 0 and sizes[1] < sizes[0]) else 0
        part[record] = side
        sizes[side] += 1


@kernel
def _bound(
    codes,  # IN   int32[n, d]
    members,  # IN   int32[size]
    part,  # IN   int32[n]
    lo,  # OUT  int32[2, d], boxes of both groups
    hi,  # OUT  int32[2, d]
):
    lo[:] = np.iinfo(np.int32).max
    hi[:] = -1
    for record in members:
        widen(codes[record], lo[part[record]], hi[part[record]])


@kernel
def _borrow(
    codes,  # IN   int32[n, d]
    places,  # IN   int32[n, d]
    costs,  # IN   Costs
    members,  # IN   int32[size]
    small,  # IN   int, the group that has too few members
    k,  # IN   int
    centre,  # IN   int32[d], its centre
    lo,  # IN/OUT int32[d], its box
    hi,  # IN/OUT int32[d]
    price,  # TMP  int64[n]
    part,  # IN/OUT int32[n]
    sizes,  # IN/OUT int64[2]
):
    """Move members to the small group until it has k, always the one that its box grows least for.

    A box only grows, so what a member cost before is a lower bound of what it costs now, and
    most members need not be looked at again. An empty group starts with the member that is
    nearest to its centre.
    """
    price[: len(members)] = -1
    while sizes[small] < k:
        least = np.int64(FAR)
        found = -1
        for i in range(len(members)):
            record = members[i]
            if part[record] == small or price[i] >= least:
                continue
            cost = 0
            if sizes[small] > 0:
                cost = box_cost_with(costs, lo, hi, codes[record])
                price[i] = cost
            else:
                cost = _distance(costs, centre, places[record])
            if cost < least:
                least = cost
                found = record
        part[found] = small
        sizes[small] += 1
        sizes[1 - small] -= 1
        widen(codes[found], lo, hi)


@kernel
def are_diverse(
    values,  # IN   int32[n, promises]
    shares,  # IN   int64[promises], the l of each
    members,  # IN   int32[size]
    group,  # IN   int32[n], group of each member
    sizes,  # IN   int64[groups]
):
    """Say whether no value has more than 1/l of any group, for each promise."""
    keys = np.empty(len(members), np.int64)
    for promise in range(len(shares)):
        for i in range(len(members)):
            keys[i] = np.int64(values[members[i], promise]) * len(sizes) + group[members[i]]
        keys.sort()
        alike = 0
        for i in range(len(keys)):
            alike = alike + 1 if i > 0 and keys[i] == keys[i - 1] else 1
            if alike * shares[promise] > sizes[keys[i] % len(sizes)]:
                return False
    return True


@kernel
def _first_centres(
    codes,  # IN   int32[n, d]
    places,  # IN   int32[n, d]
    members,  # IN   int32[size], in random order
    centres,  # OUT  int32[2, d]
):
    """The first record, and the first that differs from it."""
    centres[0] = places[members[0]]
    centres[1] = places[members[1]]
    for record in members[1:]:
        if np.any(codes[record] != codes[members[0]]):
            centres[1] = places[record]
            break


@kernel
def bisect(
    codes,  # IN   int32[n, d]
    places,  # IN   int32[n, d]
    missing,  # IN   int32[d], see `_centre`
    costs,  # IN   Costs
    values,  # IN   int32[n, promises]
    shares,  # IN   int64[promises], the l of each
    k,  # IN   int
    rounds,  # IN   int
    by_growth,  # IN   bool: a record goes where it adds least to the loss, not to the nearer centre
    members,  # IN/OUT int32[size], 2k or more; shuffled
    random,  # IN/OUT uint64[1], state of the random numbers
    price,  # TMP  int64[n]
    part,  # TMP  int32[n]
    best,  # OUT  int32[n], 0 or 1 for each member
):
    """Divide a set into two diverse groups of at least k; returns the size of group 0.

    The size is 0 if no round gave two diverse groups.
    """
    d = codes.shape[1]
    centres = np.empty((2, d), np.int32)
    lo = np.empty((2, d), np.int32)
    hi = np.empty((2, d), np.int32)
    sizes = np.zeros(2, np.int64)
    least = np.int64(FAR)
    left = 0
    for made in range(rounds):
        shuffle(random, members)
        if made == 0:
            _first_centres(codes, places, members, centres)
        else:
            for side in range(2):
                _centre(missing, places, members, part, side, sizes[side], centres[side])
        if by_growth:
            u = _nearest(costs, places, members, centres[0], -1)
            v = _nearest(costs, places, members, centres[1], u)
            assign_between(codes, costs, members, u, v, True, part, sizes)
        else:
            _assign(costs, places, members, centres, part, sizes)
        _bound(codes, members, part, lo, hi)
        small = 0 if sizes[0] < k else 1
        if sizes[small] < k:
            _borrow(
                codes, places, costs, members, small, k, centres[small], lo[small], hi[small], price, part, sizes
            )  # fmt: skip
            _bound(codes, members, part, lo, hi)
        loss = sizes[0] * box_cost(costs, lo[0], hi[0]) + sizes[1] * box_cost(costs, lo[1], hi[1])
        if loss < least and are_diverse(values, shares, members, part, sizes):
            least = loss
            left = sizes[0]
            for record in members:
                best[record] = part[record]
    return left


@kernel
def deal(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    value,  # IN   int32[n]
    groups,  # IN   int
    members,  # IN   int32[size], `groups` or more
    group,  # OUT  int32[n], group of each member
):
    """Give the members to groups in turn, sorted by value: any two groups have as many of a value, or one more.

    The deal says how many members of a value each group gets, and leaves open which. So the groups
    are halved: on some axis, the first members of each value go to the first half of the groups. It
    is the axis that leaves the least loss. Then each half is halved, until there is one group.
    """
    size, d = len(members), codes.shape[1]
    keys = np.empty(size, np.int64)
    for i in range(size):
        keys[i] = value[members[i]]
    hand = members[np.argsort(keys, kind="mergesort")]
    # The seats of a value are in the order of the groups, as its members will be in that of an axis.
    for i in range(size):
        keys[i] = np.int64(value[hand[i]]) * groups + i % groups
    keys.sort()
    seats = keys % groups
    lo = np.empty((2, d), np.int32)
    hi = np.empty((2, d), np.int32)
    # Sets that are still to be halved: where their members begin and end, and their groups.
    stack = np.empty((2 * groups, 4), np.int64)
    stack[0] = 0, size, 0, groups
    height = 1
    while height > 0:
        height -= 1
        start, stop, first, last = stack[height]
        inside = hand[start:stop].copy()
        if last - first == 1:
            for record in inside:
                group[record] = first
            continue
        middle = (first + last) // 2
        seated = seats[start:stop].copy()
        border = start + np.sum(seated < middle)
        best = inside
        least = np.int64(FAR)
        for axis in range(d):
            for i in range(len(inside)):
                keys[i] = value[inside[i]] * costs.size[axis] + codes[inside[i], axis]
            ordered = inside[np.argsort(keys[: len(inside)], kind="mergesort")]
            for i in range(len(inside)):
                group[ordered[i]] = seated[i] >= middle
            _bound(codes, inside, group, lo, hi)
            loss = (border - start) * box_cost(costs, lo[0], hi[0]) + (stop - border) * box_cost(costs, lo[1], hi[1])
            if loss < least:
                least = loss
                best = ordered
        stack[height] = start, border, first, middle
        stack[height + 1] = border, stop, middle, last
        height += 2
        left = start
        right = border
        for i in range(len(inside)):
            if seated[i] < middle:
                hand[left] = best[i]
                seats[left] = seated[i]
                left += 1
            else:
                hand[right] = best[i]
                seats[right] = seated[i]
                right += 1


@kernel
def _most_alike(
    value,  # IN/OUT int32[size], sorted by this
):
    """How often the most frequent value occurs."""
    value.sort()
    most = 0
    alike = 0
    for i in range(len(value)):
        alike = alike + 1 if i > 0 and value[i] == value[i - 1] else 1
        most = max(most, alike)
    return most


@kernel
def split(
    codes,  # IN   int32[n, d]
    costs,  # IN   Costs
    values,  # IN   int32[n, promises]
    shares,  # IN   int64[promises], the l of each
    k,  # IN   int
    members,  # IN   int32[size], which keep every promise
    group,  # OUT  int32[n], group of each member
):
    """Split a set by the values of one promise into as many groups as keep all; returns their number.

    With g groups, a value that c members have is c / g times in a group, rounded up, and a group has
    size / g members, rounded down. If the most frequent value is within the share so, all are. A
    deal that breaks the promise of another column is tried again with half as many groups.
    """
    size = len(members)
    most = np.zeros(len(shares), np.int64)
    for promise in range(len(shares)):
        most[promise] = _most_alike(values[members, promise])
    groups = size // k
    while groups > 1:
        dealt = False
        for promise in range(len(shares)):
            if -(-most[promise] // groups) * shares[promise] <= size // groups:
                deal(codes, costs, values[:, promise], groups, members, group)
                sizes = np.full(groups, size // groups, np.int64)
                sizes[: size % groups] += 1
                if are_diverse(values, shares, members, group, sizes):
                    return groups
                dealt = True
        groups = groups // 2 if dealt else groups - 1
    for record in members:
        group[record] = 0
    return 1


@kernel
def bisect_sets(
    codes,  # IN   int32[n, d]
    places,  # IN   int32[n, d]
    missing,  # IN   int32[d], see `_centre`
    costs,  # IN   Costs
    values,  # IN   int32[n, promises]
    shares,  # IN   int64[promises], the l of each
    splitter,  # IN   bool, whether to split a set that cannot be divided
    k,  # IN   int
    rounds,  # IN   int
    by_growth,  # IN   bool, see `bisect`
    work,  # IN   int, number of records to look at in this call
    members,  # IN/OUT int32[n], records, set after set
    stops,  # IN/OUT int64[n]
    state,  # IN/OUT int64[2]
    random,  # IN/OUT uint64[1], state of the random numbers
    labels,  # OUT  int32[n], group of each record
):
    """Divide sets until about `work` records have been looked at, or all is done."""
    n = len(members)
    part = np.empty(n, np.int32)
    best = np.empty(n, np.int32)
    price = np.empty(n, np.int64)
    buffer = np.empty(n, np.int32)
    while state[START] < n and work > 0:
        start = state[START]
        stop = stops[start]
        inside = members[start:stop]
        left = 0
        if stop - start >= 2 * k:
            left = bisect(
                codes, places, missing, costs, values, shares, k, rounds, by_growth, inside, random, price, part, best
            )  # fmt: skip
            work -= rounds * (stop - start)
        if left > 0:
            halve_set(best, left, members, stops, state, buffer)
            continue
        groups = 1
        part[inside] = 0
        if splitter:
            groups = split(codes, costs, values, shares, k, inside, part)
        work -= stop - start
        finish_set(part, groups, members, stops, state, labels)
