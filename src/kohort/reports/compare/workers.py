"""Runs of a comparison in processes of their own, side by side.

A process is given the table once, through a pipe, and then one run after the other: nothing is written to disk. Which
process does a run, and how many there are, makes no difference to its result.
"""

from __future__ import annotations

import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

from kohort.common import stopping
from kohort.errors import InternalError, KohortError
from kohort.reports.compare.run import Result, Run, Setting

_LOOK = 0.1
"""Seconds after which somebody who waits for processes looks whether a signal came."""
_COMMAND = "from kohort.reports.compare.serve import serve; serve()"
_Answer = tuple[int, Result | KohortError]


def results(setting: Setting, runs: Sequence[Run], workers: int) -> Iterator[tuple[int, Result]]:
    """The place and the result of each run, as soon as it is there.

    Parameters
    ----------
    workers : int
        Processes; with 1, this one does the work.
    """
    workers = min(workers, len(runs))
    if workers <= 1:
        for place, run in enumerate(runs):
            stopping.heed()
            yield place, setting.result(run)
        return
    content = pickle.dumps(setting.shared_by(workers), protocol=pickle.HIGHEST_PROTOCOL)
    waiting: deque[tuple[int, Run]] = deque(enumerate(runs))
    answers: queue.Queue[_Answer] = queue.Queue()
    crew: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(workers):
            with stopping.uninterrupted():
                crew.append(_started())
            threading.Thread(target=_served, args=(crew[-1], content, waiting, answers), daemon=True).start()
        for _ in runs:
            yield _next(answers)
    finally:
        with stopping.uninterrupted():
            for process in crew:
                process.kill()
            for process in crew:
                process.communicate()


def _started() -> subprocess.Popen[bytes]:
    # -P: nothing is imported from the folder that the command was called in.
    command = [sys.executable, "-P", "-c", _COMMAND]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _next(answers: queue.Queue[_Answer]) -> tuple[int, Result]:
    """The next answer; a signal is heeded while there is none."""
    while True:
        stopping.heed()
        with suppress(queue.Empty):
            place, answer = answers.get(timeout=_LOOK)
            if isinstance(answer, KohortError):
                raise answer
            return place, answer


def _served(
    process: subprocess.Popen[bytes], content: bytes, waiting: deque[tuple[int, Run]], answers: queue.Queue[_Answer]
) -> None:
    """Give one process its runs, until there is none left."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        _send(process.stdin, content)
        while True:
            try:
                place, run = waiting.popleft()
            except IndexError:
                return
            _send(process.stdin, pickle.dumps(run))
            answers.put((place, pickle.load(process.stdout)))
    except (OSError, EOFError, pickle.UnpicklingError, ValueError):
        code = process.wait()
        answers.put((-1, InternalError(f"a process of the comparison has ended with code {code}; was memory short?")))


def _send(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(len(content).to_bytes(8, "big") + content)
    pipe.flush()
