"""The largest value that a record can have in a certificate: branch and bound over the boxes that hold it.

A box that holds row r is described by how far it reaches from r: on a taxonomy one *reach* (what the
ancestor costs above r's own cost), on a line two (to the left and to the right). Another row
lies in the box if none of its own reaches is larger. So all kinds of axes look alike: the cost of a
box is r's own cost plus the sum of the reaches, and boxes are enumerated by thresholds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohort.kernels.bounds.bound_tree import near_rows, nearest_cost
from kohort.kernels.costs import LINE, box_cost, span_cost
from kohort.kernels.jit import inner, kernel

SETS = 0
ENTRIES = 1
SPARE = 16
"""Room for this many sets is wanted before a row is looked at."""


class Sets(NamedTuple):
    """Sets of k records, as distinct rows with multiplicities."""

    size: NDArray[np.int64]
    """Number of entries of each set."""
    cost: NDArray[np.int64]
    """Cost of the box of each set."""
    row: NDArray[np.int32]
    """Entries, set after set."""
    times: NDArray[np.int32]
    used: NDArray[np.int64]
    """Number of sets and of entries so far."""


FINE = 2**14
"""A set is listed if it lowers a target by more than this part of it."""
NONE = 2**62
"""No value: more than any."""


@kernel
def own_costs(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    values,  # OUT  int64[m]
):
    """Cost of publishing each row as it is."""
    for row in range(len(codes)):
        values[row] = box_cost(costs, codes[row], codes[row])


@inner
def _reaches(
    codes,  # IN   int32[m, d]
    costs,  # IN   Costs
    row,  # IN   int
    others,  # IN   int64[count]
    left,  # IN   int64[d], index of the (left) reach of each axis
    far,  # OUT  int32[reaches, count]
):
    for axis in range(codes.shape[1]):
        code = codes[row, axis]
        own = span_cost(costs, axis, code, code)
        side = left[axis]
        line = costs.kind[axis] == LINE
        missing = costs.missing[axis]
        for i in range(len(others)):
            there = codes[others[i], axis]
            cost = span_cost(costs, axis, min(code, there), max(code, there)) - own
            if not line:
                far[side, i] = cost
            elif there > code and there != missing:
                far[side, i] = 0
                far[side + 1, i] = cost
            else:  # a missing value counts as left, so that it decides before the right
                far[side, i] = cost
                far[side + 1, i] = 0


@inner
def _tops(
    values,  # IN   int64[count]
    times,  # IN   int64[count], multiplicities
    members,  # IN   int64[held], descending by value
    held,  # IN   int
    k,  # IN   int
    sums,  # OUT  int64[k], sum of the s largest values of members
):
    """Sums of the largest values, for 0..k-1 records; returns for how many there are enough."""
    sums[0] = 0
    have = 0
    for i in range(held):
        value = values[members[i]]
        for _ in range(min(times[members[i]], k - 1 - have)):
            have += 1
            sums[have] = sums[have - 1] + value
        if have == k - 1:
            break
    return have


@inner
def _most(
    sums,  # IN   int64[k]
    have,  # IN   int
    copies,  # IN   int, copies of the row, fewer than k
    k,  # IN   int
    value,  # IN   int, value of the row
):
    """Largest sum of k records of which at least one is the row; -1 if there are too few."""
    largest = np.int64(-1)
    for used in range(max(1, k - have), copies + 1):
        largest = max(largest, used * value + sums[k - used])
    return largest


@inner
def _allowed(
    sums,  # IN   int64[k]
    have,  # IN   int
    copies,  # IN   int
    k,  # IN   int
    cost,  # IN   int, of the box
):
    """Largest value of the row that a box of this cost allows, and with how many copies it binds."""
    least = np.int64(NONE)
    binding = 0
    for used in range(max(1, k - have), copies + 1):
        value = (k * cost - sums[k - used]) // used
        if value < least:
            least = value
            binding = used
    return least, binding


@inner
def _list_set(
    row,  # IN   int
    copies,  # IN   int, of the row
    others,  # IN   int64[count]
    times,  # IN   int64[count]
    members,  # IN   int64[held], places in `others`, descending by value
    k,  # IN   int
    cost,  # IN   int, of their box
    sets,  # IN/OUT Sets
):
    """Add a set of k records: copies of the row and the members of the largest values; none if there is no room."""
    entry = sets.used[ENTRIES]
    made = sets.used[SETS]
    if entry + k > len(sets.row) or made == len(sets.cost):
        return
    sets.row[entry] = row
    sets.times[entry] = copies
    left = k - copies
    for member in members:
        if left == 0:
            break
        entry += 1
        sets.row[entry] = others[member]
        sets.times[entry] = min(times[member], left)
        left -= sets.times[entry]
    sets.cost[made] = cost
    sets.size[made] = entry + 1 - sets.used[ENTRIES]
    sets.used[ENTRIES] = entry + 1
    sets.used[SETS] = made + 1


@inner
def _thin(
    values,  # IN   int64[count]
    times,  # IN   int64[count]
    k,  # IN   int
    copies,  # IN   int, copies of the row
    value,  # IN   int, value of the row
    fixed,  # IN   int, cost of the box so far
    members,  # IN/OUT int64[held], descending by value
    total,  # IN/OUT int64[held], least cost of a box that holds the row and this member
    held,  # IN   int
    sums,  # OUT  int64[k], see `_tops`
):
    """Drop members that only boxes too costly to forbid the value can hold, until all may matter.

    Returns how many are left, or -1 if no box is left at all; then `_tops`; then the work done.
    """
    work = 0
    while True:
        have = _tops(values, times, members, held, k, sums)
        most = _most(sums, have, copies, k, value)
        work += held
        if most <= k * fixed:
            return -1, have, work
        kept = 0
        for i in range(held):
            if most > k * total[i]:
                members[kept] = members[i]
                total[kept] = total[i]
                kept += 1
        if kept == held:
            return held, have, work
        held = kept


@inner
def _reached(far, members, threshold):
    """Whether a member lies at the very threshold."""
    for member in members:  # noqa: SIM110
        if far[member] == threshold:
            return True
    return False


@inner
def _widest(
    far,  # IN   int32[reaches, count]
    members,  # IN   int64[held]
    is_right,  # IN   bool[reaches]
    undecided,  # IN/OUT bool[reaches]
):
    """The undecided reach in which the members lie farthest apart; -1 if all lie in one box.

    A right reach waits until its left one is decided: that may settle both.
    """
    widest = 0.0
    along = -1
    for reach in range(len(is_right)):
        if not undecided[reach] or (is_right[reach] and undecided[reach - 1]):
            continue
        spread = 0.0
        for member in members:
            spread += np.float64(far[reach, member]) ** 2
        if spread > widest:
            widest = spread
            along = reach
        if spread == 0:
            undecided[reach] = False
    return along


@inner
def _next_threshold(far, members, threshold):
    """The next larger reach of a member, 0 for the first; NONE after the last."""
    if threshold < 0:
        return np.int64(0)
    following = np.int64(NONE)
    for member in members:
        if threshold < far[member] < following:
            following = np.int64(far[member])
    return following


@inner
def _sides(costs, left, n_reach):
    """Which reaches are to the right of a number, and what the whole range of each left one costs, -1 for others."""
    is_right = np.zeros(n_reach, np.bool_)
    whole = np.full(n_reach, -1, np.int64)
    for axis in range(len(left)):
        if costs.kind[axis] == LINE:
            is_right[left[axis] + 1] = True
            whole[left[axis]] = costs.full[axis]
    return is_right, whole


@inner
def _within(
    far,  # IN   int32[count], the reach that is divided
    threshold,  # IN   int
    held,  # IN   int, members here
    members,  # IN/OUT int64[depths, room], here and one depth below
    total,  # IN/OUT int64[depths, room], least cost of a box that holds the row and this member
):
    """Hand the members within the threshold one depth down; how many they are."""
    keep = 0
    for i in range(held):
        member = members[0, i]
        if far[member] <= threshold:
            members[1, keep] = member
            total[1, keep] = total[0, i] + threshold - far[member]
            keep += 1
    return keep


@inner
def _walk(
    far,  # IN   int32[reaches, count], see `_reaches`
    is_right,  # IN   bool[reaches]
    whole,  # IN   int64[reaches], see `_sides`
    others,  # IN   int64[count], the rows near, those of the largest values first
    local,  # IN   int64[count], their values
    times,  # IN   int64[count], their copies
    k,  # IN   int
    row,  # IN   int, a row of fewer than k copies
    copies,  # IN   int, that it has
    own,  # IN   int, what its own box costs
    target,  # IN   int, no more than this is wanted
    patience,  # IN   int
    space,  # TMP  int64[2, reaches + 2, room]
    sets,  # IN/OUT Sets
):
    """Divide the boxes that hold the row, depth first; the largest value that none forbids, and the work done."""
    n_reach, count = far.shape
    work = 0
    value = target
    members = space[0]
    total = space[1]  # least cost of a box here that holds the row and this member
    held = np.zeros(n_reach + 2, np.int64)
    fixed = np.zeros(n_reach + 2, np.int64)  # cost of the thresholds so far
    branch = np.full(n_reach + 2, -1, np.int64)  # reach that is divided at this depth
    threshold = np.full(n_reach + 2, -1, np.int64)
    open_ = np.ones((n_reach + 2, n_reach), np.bool_)
    sums = np.empty(k, np.int64)

    held[0] = count
    fixed[0] = own
    for i in range(count):
        members[0, i] = i
        total[0, i] = own
        for reach in range(n_reach):
            total[0, i] += far[reach, i]
    depth = 0
    while depth >= 0:
        if branch[depth] < 0:
            held[depth], have, done = _thin(
                local, times, k, copies, value, fixed[depth], members[depth], total[depth], held[depth], sums
            )  # fmt: skip
            work += done
            if held[depth] < 0 or (
                depth > 0
                and threshold[depth - 1] > 0
                and not _reached(far[branch[depth - 1]], members[depth, : held[depth]], threshold[depth - 1])
            ):  # useless; or without a member at the very threshold, and a smaller one says the same for less
                depth -= 1
                continue
            along = _widest(far, members[depth, : held[depth]], is_right, open_[depth])
            work += held[depth] * n_reach
            if along < 0 or work > patience:
                least, used = _allowed(sums, have, copies, k, fixed[depth])
                if least < value:
                    value = least
                    # Violations too small to matter would fill the list with known sets.
                    if along < 0 and least < target - target // FINE:
                        _list_set(row, used, others, times, members[depth, : held[depth]], k, fixed[depth], sets)
                depth -= 1
                continue
            branch[depth] = along
            threshold[depth] = -1
        # The next threshold of the reach that is divided here.
        along = branch[depth]
        next_ = _next_threshold(far[along], members[depth, : held[depth]], threshold[depth])
        work += held[depth]
        if next_ == NONE:
            branch[depth] = -1
            depth -= 1
            continue
        if threshold[depth] >= 0:
            have = _tops(local, times, members[depth], held[depth], k, sums)
            done = _most(sums, have, copies, k, value) <= k * (fixed[depth] + next_)
            if not done and work > 2 * patience:
                value, _ = _allowed(sums, have, copies, k, fixed[depth] + next_)
                done = True
            if done:
                branch[depth] = -1
                depth -= 1
                continue
        threshold[depth] = next_
        below = depth + 1
        for reach in range(n_reach):
            open_[below, reach] = open_[depth, reach]
        open_[below, along] = False
        held[below] = _within(far[along], next_, held[depth], members[depth:], total[depth:])
        if next_ == whole[along]:
            # A value is missing: the side is `*`, at the full cost, whatever lies to the right.
            open_[below, along + 1] = False
            for i in range(held[below]):
                total[below, i] -= far[along + 1, members[below, i]]
        fixed[below] = fixed[depth] + next_
        work += held[depth]
        branch[below] = -1
        depth = below
    return value, work


@inner
def largest_value(
    index,  # IN   Index
    left,  # IN   int64[d], see `_reaches`
    values,  # IN   int64[m], present value of each row
    row,  # IN   int, a row of fewer than k copies
    target,  # IN   int, no more than this is wanted
    patience,  # IN   int, work after which boxes are bounded instead of opened
    found,  # TMP  int64[m]
    space,  # TMP  int64[2, reaches + 2, room]
    sets,  # IN/OUT Sets, sets of k records whose box forbids the target
):
    """Largest value up to the target that no box with a cost below the target forbids; also the work done.

    Once patience has run out, boxes that are not opened are taken for worse than they are. With more
    rows near than there is room for, the value is -1.
    """
    codes, counts, costs, tree, k = index
    d = codes.shape[1]
    n_reach = left[d - 1] + (2 if costs.kind[d - 1] == LINE else 1)
    copies = counts[row]
    own = np.int64(box_cost(costs, codes[row], codes[row]))
    count, work = near_rows(codes, costs, tree, row, target, found)
    if count > space.shape[2]:
        return np.int64(-1), work
    work += count * (d + n_reach)
    others = found[:count]
    others = others[np.argsort(-values[others], kind="mergesort")]
    local = values[others]
    times = counts[others]
    far = np.empty((n_reach, count), np.int32)
    _reaches(codes, costs, row, others, left, far)
    is_right, whole = _sides(costs, left, n_reach)
    value, done = _walk(far, is_right, whole, others, local, times, k, row, copies, own, target, patience, space, sets)
    return value, work + done


@kernel
def insert_rows(
    index,  # IN   Index
    left,  # IN   int64[d], see `_reaches`
    order,  # IN   int64[rows], rows to raise, ascending by target
    targets,  # IN   int64[m]
    patience,  # IN   int, see `largest_value`
    start,  # IN   int, where to go on in the order
    work,  # IN   int, about how much to do in this call
    values,  # IN/OUT int64[m]
    found,  # TMP  int64[m]
    space,  # TMP  int64[2, reaches + 2, room]
    sets,  # IN/OUT Sets, those that stopped a row are added
):
    """Raise rows to their targets one after the other, as far as all others allow.

    Returns where to go on, and the work that is left.
    """
    while start < len(order) and work > 0 and sets.used[ENTRIES] + SPARE * index.k <= len(sets.row):
        row = order[start]
        start += 1
        value, done = largest_value(index, left, values, row, targets[row], patience, found, space, sets)
        work -= done
        values[row] = max(values[row], value)
    return start, work


@kernel
def nearest_costs(
    index,  # IN   Index
    rows,  # IN   int64[some], rows to look at
    start,  # IN   int, where to go on among them
    work,  # IN   int, about how much to do in this call
    values,  # OUT  int64[m], see `nearest_cost`
):
    """`nearest_cost` of some rows; returns where to go on, and the work that is left."""
    near = np.empty(index.k, np.int64)
    while start < len(rows) and work > 0:
        values[rows[start]], done = nearest_cost(index, rows[start], near)
        work -= done
        start += 1
    return start, work


@kernel
def solve_master(
    weight,  # IN   float64[m], objective
    upper,  # IN   float64[m]
    set_start,  # IN   int64[sets + 1]
    set_row,  # IN   int32[entries]
    set_times,  # IN   int32[entries]
    bound,  # IN   float64[sets], largest sum of each set
    k,  # IN   int
    rounds,  # IN   int
    y,  # IN/OUT float64[m]
    price,  # IN/OUT float64[sets]
):
    """Primal-dual steps (Pock and Chambolle 2011) for: largest weight * y with the sum of every set bounded."""
    m = len(weight)
    step = np.zeros(m)
    for i in range(len(set_row)):
        step[set_row[i]] += set_times[i]
    for r in range(m):
        step[r] = 1.0 / max(step[r], 1.0)
    gain = np.empty(m)
    ahead = np.empty(m)
    for _ in range(rounds):
        for r in range(m):
            gain[r] = weight[r]
        for s in range(len(bound)):
            if price[s] > 0:
                for i in range(set_start[s], set_start[s + 1]):
                    gain[set_row[i]] -= set_times[i] * price[s]
        for r in range(m):
            moved = min(max(y[r] + step[r] * gain[r], 0.0), upper[r])
            ahead[r] = 2 * moved - y[r]
            y[r] = moved
        for s in range(len(bound)):
            total = 0.0
            for i in range(set_start[s], set_start[s + 1]):
                total += set_times[i] * ahead[set_row[i]]
            price[s] = max(0.0, price[s] + (total - bound[s]) / k)
