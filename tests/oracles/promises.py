"""What a solution must keep, counted record by record: the plain judge of every algorithm.

It knows the interface alone (`kohort.codes.boxes`, and what an algorithm says of itself), so it judges
algorithms that nobody had thought of when it was written.
"""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np


def broken(solution, codes, k, anonymity, allowance, sensitive):
    """Sentences on what a solution does not keep; none for a sound one.

    Parameters
    ----------
    sensitive : sequence
        The sensitive value of every record.
    """
    kept = np.ones(len(codes.array), bool) if solution.kept is None else solution.kept
    faults = _misshapen(solution, codes, kept)
    if faults:
        return faults
    if (~kept).sum() > allowance:
        faults.append(f"{(~kept).sum()} records are suppressed, and only {allowance} may be")
    array, lo, hi = codes.array[kept], solution.boxes.lo[kept], solution.boxes.hi[kept]
    if (lo > array).any() or (hi < array).any():
        faults.append("a box does not cover its own record")
    if lo.min() < 0 or (hi >= [axis.size for axis in codes.axes]).any():
        faults.append("a box ends outside its axis")
    judge = {"classes": _classes, "matchings": _matchings, "buckets": _buckets}[anonymity]
    return faults + judge(solution, array, lo, hi, k, [s for s, here in zip(sensitive, kept, strict=True) if here])


def _misshapen(solution, codes, kept):
    """What keeps a solution from being read at all."""
    faults = [
        f"{name} has shape {side.shape} and type {side.dtype}"
        for name, side in (("lo", solution.boxes.lo), ("hi", solution.boxes.hi))
        if side.shape != codes.array.shape or side.dtype != np.int32
    ]
    if kept.shape != (len(codes.array),) or kept.dtype != bool:
        faults.append(f"kept has shape {kept.shape} and type {kept.dtype}")
    elif not kept.any():
        faults.append("every record is suppressed")
    return faults


def buckets_of(solution):
    """The bucket of each record, of a release in buckets."""
    return getattr(solution, "buckets", None)


def tables_of(solution):
    """The sub-tables of a release in several."""
    return getattr(solution, "tables", ())


def _classes(solution, array, lo, hi, k, sensitive):
    """Every box is that of k records; of a release in several tables, every sub-table for itself."""
    del sensitive
    faults = [] if buckets_of(solution) is None else ["there are buckets, and the algorithm promises classes"]
    everything = range(array.shape[1])
    for axes, size in [(sub.axes, sub.k) for sub in tables_of(solution)] or [(everything, k)]:
        axes = list(axes)
        alike = Counter(map(tuple, np.hstack([lo[:, axes], hi[:, axes]]).tolist()))
        if size < 2 or not axes:
            faults.append(f"a sub-table of axes {axes} promises k = {size}")
        if min(alike.values()) < size:
            faults.append(f"a box is that of {min(alike.values())} records, and not of {size}")
    return faults


def _matchings(solution, array, lo, hi, k, sensitive):
    """Every record can be k of the rows, all others then being rows, too."""
    del solution, sensitive
    fits = ((lo[None] <= array[:, None]) & (array[:, None] <= hi[None])).all(axis=2)
    rows = possible_rows(fits).sum(axis=1)
    return [] if rows.min() >= k else [f"a record can be {rows.min()} of the rows only, and not {k}"]


def possible_rows(fits):
    """Which row each record can be, in some assignment of all records to rows that they fit.

    Record i fits row i. Then it can be row j instead if and only if it fits, and those whose rows are
    taken can be moved on until somebody takes row i: if j leads back to i.
    """
    reach = fits | np.eye(len(fits), dtype=bool)
    while True:
        further = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if (further == reach).all():
            return fits & reach.T
        reach = further


def _buckets(solution, array, lo, hi, k, sensitive):
    """Quasi-identifiers as they are; k records in every bucket, and at most one in k with the same value."""
    faults = [] if (lo == array).all() and (hi == array).all() else ["a box is not exact"]
    buckets = buckets_of(solution)
    if buckets is None or len(buckets) != len(array):
        return [*faults, "there is no bucket for every published record"]
    members = {}
    for bucket, value in zip(buckets.tolist(), sensitive, strict=True):
        members.setdefault(bucket, []).append(value)
    if min(members) != 0 or max(members) != len(members) - 1:
        faults.append("buckets are not numbered 0, 1, 2, ...")
    if min(map(len, members.values())) < k:
        faults.append(f"a bucket has fewer than {k} records")
    if any(max(Counter(values).values()) * k > len(values) for values in members.values()):
        faults.append(f"a sensitive value has more than one in {k} of its bucket")
    return faults


def digest(solution):
    """A hash of all that a solution says."""
    found = hashlib.sha256(repr((solution.clusters, tables_of(solution))).encode())
    kept = slice(None) if solution.kept is None else solution.kept
    for part in (solution.boxes.lo[kept], solution.boxes.hi[kept], solution.kept, buckets_of(solution)):
        found.update(b"none" if part is None else np.ascontiguousarray(part).tobytes())
    return found.hexdigest()
