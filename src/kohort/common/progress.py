"""Times the steps of a run, and reports their progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kohort.common import stopping

Progress = Callable[[str, float], None]
"""Called with the step, in a search with the loss so far after a comma, and the share of it that is done."""


def heeding(progress: Progress | None) -> Progress:
    """Report progress to whoever asks for it, if anybody; a wish to stop is heeded."""

    def report(step: str, share: float) -> None:
        stopping.heed()
        if progress is not None:
            progress(step, share)

    return report


class Clock:
    """Times the steps, and reports their progress."""

    def __init__(self, progress: Progress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._step = ""
        self._note = ""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time what is done inside; a step may have several turns."""
        self._step, self._note = name, ""
        self.share(0.0)
        start = time.perf_counter()
        yield
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - start, 4)
        self.share(1.0)

    def share(self, done: float) -> None:
        """Report how much of the step is done, 0 to 1; a wish to stop is heeded here, if its exception was lost."""
        stopping.heed()
        if self._progress:
            self._progress(self._step + self._note, done)

    def note(self, text: str) -> None:
        """Say what is worth showing beside the progress."""
        self._note = f", {text}"
