"""How far Spark is with a step that takes long: the share of its tasks that are finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 0.5
"""Between two looks at the tasks."""


@contextmanager
def watched(spark: SparkSession, tasks: int, progress: Callable[[float], None]) -> Iterator[None]:
    """Report how much of the work inside is done.

    Parameters
    ----------
    tasks : int
        How many tasks the work has. Spark reads, sorts and writes in other stages beside it, which take little.
    progress : callable
        Called with a share, 0 to 1. In Spark Connect it is called while the driver waits, else by a thread.
    """
    is_remote = type(spark).__module__.startswith("pyspark.sql.connect")
    with (_told if is_remote else _asked)(spark, tasks, progress):
        yield


@contextmanager
def _told(spark: SparkSession, tasks: int, progress: Callable[[float], None]) -> Iterator[None]:
    def handler(*, stages: Any = None, **_: object) -> None:
        _tell([(one.stage_id, one.num_completed_tasks, one.num_tasks) for one in stages or ()], tasks, progress)

    spark.registerProgressHandler(handler)  # type: ignore[arg-type]
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)  # type: ignore[arg-type]


@contextmanager
def _asked(spark: SparkSession, tasks: int, progress: Callable[[float], None]) -> Iterator[None]:
    tracker, done = spark.sparkContext.statusTracker(), Event()

    def look() -> None:
        while not done.wait(SECONDS):
            try:
                known = [(number, tracker.getStageInfo(number)) for number in tracker.getActiveStageIds()]
            except Exception:
                return  # Spark is gone, and the work itself says so
            _tell([(one, info.numCompletedTasks, info.numTasks) for one, info in known if info], tasks, progress)

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tell(stages: list[tuple[int, int, int]], tasks: int, progress: Callable[[float], None]) -> None:
    """Report the share of the last stage that may be the work. Stages: number, finished tasks, all tasks."""
    shares = [(number, finished / count) for number, finished, count in stages if count == tasks]
    if shares:
        progress(max(shares)[1])
