"""The other side of `workers`: a process that does runs until its caller has no more, or is gone."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from typing import IO

from kohort.common.limits import limit_of
from kohort.common.stopping import SIGNALS
from kohort.errors import InternalError, KohortError
from kohort.reports.compare.run import Result, Run, Setting


def serve() -> None:
    """Take a setting and runs from stdin, and write a result for each of them to stdout."""
    for number in SIGNALS:  # the caller decides; Ctrl-C goes to all processes of a terminal
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints is taken for an answer
    given: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, given), daemon=True).start()
    setting: Setting = pickle.loads(given.get())
    while True:
        run: Run = pickle.loads(given.get())
        pickle.dump(_answer(setting, run), answers)
        answers.flush()


def _listen(pipe: IO[bytes], given: queue.Queue[bytes]) -> None:
    """Take what comes; when the caller is gone, however it ended, so is this process, whatever it does."""
    while head := pipe.read(8):
        given.put(pipe.read(int.from_bytes(head, "big")))
    os._exit(0)


def _answer(setting: Setting, run: Run) -> Result | KohortError:
    """The result of a run; of an unexpected error its kind and place, never its text, which may quote data."""
    try:
        return setting.result(run)
    except Exception as error:
        if limit := limit_of(error):
            return limit
        place = traceback.extract_tb(error.__traceback__)[-1]
        name = place.filename.replace(os.sep, "/").rpartition("/kohort/")[2]
        return InternalError(f"{type(error).__name__} in {name}, line {place.lineno}.")
