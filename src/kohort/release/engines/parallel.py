"""Partitions side by side on all cores of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event, Lock

from kohort.common.stopping import Workers
from kohort.common.system import cores
from kohort.errors import InfeasibleError, Interrupted

Work = Callable[[int, Callable[[float], None], int], None]
"""Called with the number of a partition, how to report progress, and the number of threads."""


def side_by_side(
    work: Work,
    parts: Sequence[int],
    sizes: Mapping[int, int],
    progress: Callable[[float], None],
    each: float = float("inf"),
) -> dict[int, InfeasibleError]:
    """Work on some partitions, several at a time; the faults of those that cannot keep a promise.

    Parameters
    ----------
    sizes : mapping
        Records of every partition; those that are not worked on are done.
    each : float
        Records of a partition that must be worked on alone, if it has more.
    """
    stop, lock = Event(), Lock()
    done = {part: 0.0 if part in parts else 1.0 for part in sizes}
    records = sum(sizes.values())

    def share(part: int, of_part: float) -> None:
        if stop.is_set():
            raise Interrupted
        with lock:
            done[part] = of_part
            progress(sum(done[one] * sizes[one] for one in sizes) / records)

    def fault(part: int, threads: int) -> InfeasibleError | None:
        try:
            share(part, 0.0)
            work(part, lambda of_part: share(part, of_part), threads)
        except InfeasibleError as error:
            return error
        share(part, 1.0)
        return None

    found = {part: fault(part, 0) for part in parts if sizes[part] > each}
    # Partitions share nothing, and so never wait for each other: one thread for each, while there are enough of them.
    # Large ones come first, so that none is left for the end.
    order = sorted((part for part in parts if part not in found), key=lambda part: (-sizes[part], part))
    threads = max(1, cores() // max(1, len(order)))
    with Workers(cores()) as pool:
        try:
            found |= zip(order, pool.results(lambda part: fault(part, threads), order), strict=True)
        except BaseException:
            stop.set()
            raise
    return {part: error for part, error in found.items() if error is not None}
