"""Supports of groups of items: each a row of bits, one for each record."""

from __future__ import annotations

import numpy as np

from kohort.kernels.jit import inner, kernel


@inner
def ones(word):
    """Number of bits of a word that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def bits_of(items, starts, number):
    """The records of each item, as bits."""
    records = len(starts) - 1
    found = np.zeros((number, (records + 63) // 64), np.uint64)
    for r in range(records):
        for p in range(starts[r], starts[r + 1]):
            found[items[p], r >> 6] |= np.uint64(1) << np.uint64(r & 63)
    return found


@kernel
def support(bits, group, members):
    """Records that have a label of every member; -1 if one of these is published nowhere."""
    total = 0
    for member in members:
        if group[member] < 0:
            return np.int64(-1)
    for w in range(bits.shape[1]):
        word = ~np.uint64(0)
        for member in members:
            word &= bits[group[member], w]
        total += ones(word)
    return np.int64(total)


@kernel
def merge_constraints(
    bits,  # IN/OUT uint64[items, words], records of each group, at the number of its first item
    members,  # IN   int32[], the items of set after set
    begins,  # IN   int64[sets+1]
    allowed,  # IN   int32[items], items of one number may be merged; -1: not at all
    k,
    group,  # OUT  int32[items], first item of the group of each; -1 if it is left out
):
    """Merge groups of items, at least utility loss, until each set is kept by k records or more, or by none.

    A set that nothing may be merged for has the item left out that the fewest records have. Returns the number of
    records that had such items, added up over the items.
    """
    number = len(group)
    size = np.ones(number, np.int64)
    occurs = np.zeros(number, np.int64)
    for item in range(number):
        group[item] = item
        for w in range(bits.shape[1]):
            occurs[item] += ones(bits[item, w])
    held = occurs.copy()  # items of records, by the group that they are in
    gone = np.int64(0)
    changed = True
    while changed:
        changed = False
        for s in range(len(begins) - 1):
            own = members[begins[s] : begins[s + 1]]
            while True:
                found = support(bits, group, own)
                if found <= 0 or found >= k:
                    break
                changed = True
                best, partner, least = -1, -1, np.inf
                for member in own:
                    one = group[member]
                    if allowed[one] < 0:
                        continue
                    for other in range(number):
                        if group[other] != other or other == one or allowed[other] != allowed[one]:
                            continue
                        joint = 0
                        for w in range(bits.shape[1]):
                            joint += ones(bits[one, w] | bits[other, w])
                        if joint == 0:
                            continue
                        # log2 of (2^s - 1) * support, as 2^s may be no number
                        items = size[one] + size[other]
                        loss = items + np.log2(-np.expm1(-items * np.log(2.0))) + np.log2(np.float64(joint))
                        if loss < least - 1e-12:
                            best, partner, least = one, other, loss
                if best >= 0:
                    into, away = min(best, partner), max(best, partner)
                    for w in range(bits.shape[1]):
                        bits[into, w] |= bits[away, w]
                    size[into] += size[away]
                    held[into] += held[away]
                    for item in range(number):
                        if group[item] == away:
                            group[item] = into
                    continue
                rare, fewest = -1, np.int64(0)
                for member in own:
                    count = np.int64(0)
                    for w in range(bits.shape[1]):
                        count += ones(bits[group[member], w])
                    if rare < 0 or count < fewest:
                        rare, fewest = group[member], count
                gone += held[rare]
                for item in range(number):
                    if group[item] == rare:
                        group[item] = -1
    return gone
