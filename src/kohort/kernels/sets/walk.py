"""Steps of a walk, depth first, through all sets of labels that records have."""

from __future__ import annotations

from kohort.kernels.jit import inlined


@inlined
def count_following(
    labels,  # IN   int32[t], labels of record after record, ascending in each
    starts,  # IN   int64[n+1], where each record begins
    record,  # IN   int64[depths, t], the records of the prefix in the list of the depth above; all at depth 0
    place,  # IN   int64[depths, t], where what follows the prefix begins in each
    depth,
    low,  # first place of the list, and
    high,  # the one after the last
    count,  # OUT  int64[depths, nodes], records with each label; 0 before
    touched,  # OUT  int32[depths, nodes], the labels that follow
):
    """Count what follows a prefix in its records, and return the number of different labels."""
    seen = 0
    for i in range(low, high):
        r = i if depth == 0 else record[depth - 1, i]
        for p in range(starts[r] if depth == 0 else place[depth - 1, i], starts[r + 1]):
            label = labels[p]
            if count[depth, label] == 0:
                touched[depth, seen] = label
                seen += 1
            count[depth, label] += 1
    return seen


@inlined
def list_by_label(
    labels,
    starts,
    record,  # OUT  of this depth: the records of each label, one label after the other
    place,
    depth,
    low,
    high,
    count,  # IN
    touched,  # IN
    seen,
    begin,  # OUT  int64[depths, nodes], where the list of each label ends
):
    """List the records of a prefix by the labels that follow it."""
    filled = 0
    for t in range(seen):
        begin[depth, touched[depth, t]] = filled
        filled += count[depth, touched[depth, t]]
    for i in range(low, high):
        r = i if depth == 0 else record[depth - 1, i]
        for p in range(starts[r] if depth == 0 else place[depth - 1, i], starts[r + 1]):
            at = begin[depth, labels[p]]
            record[depth, at], place[depth, at] = r, p + 1
            begin[depth, labels[p]] = at + 1


@inlined
def forget(depth, seen, count, touched):
    """Set the counts of a depth to 0."""
    for t in range(seen):
        count[depth, touched[depth, t]] = 0
