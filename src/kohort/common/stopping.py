"""A wish to stop: Ctrl-C, a polite kill, a lost terminal.

A signal is answered by an exception, wherever the work is. Libraries that are called at that moment may swallow it, or
raise one of their own instead. So the wish is noted, too, and heeded at the next step: what ends then ends because of
the wish, whatever the exception says. What must not be cut in two runs `uninterrupted`.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

from kohort.errors import Interrupted, Stopped

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
T = TypeVar("T")
IMPATIENT = 5.0
"""Seconds after which a second signal is a wish of its own; an earlier one must not disturb the cleaning up."""


@dataclass
class _State:
    wish: int | None = None
    """The signal."""
    when: float = 0.0
    published: bool = False
    over: bool = False


_state = _State()
_LOOK = 0.05
"""Seconds after which somebody who waits for threads looks whether a signal came."""


def begin() -> None:
    """Answer signals from now on, on behalf of a command that begins; those that are ignored stay so (nohup)."""
    global _state
    _state = _State()
    for number in SIGNALS:
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _answer)


def over() -> None:
    """The command has ended, and its exit code stands: no signal changes it any more."""
    _state.over = True


def ignore() -> None:
    """Ignore signals from now on: an interpreter that ends would give them back their default, which is to kill."""
    over()
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def published() -> None:
    """Note that the release is at its place."""
    _state.published = True


def withdrawn() -> None:
    """Say that what has appeared is in a private place only."""
    _state.published = False


def is_wished() -> bool:
    """Whether somebody has asked to stop, and the command has not ended yet."""
    return _state.wish is not None and not _state.over


def is_published() -> bool:
    """Whether the release of this command is at its place."""
    return _state.published


def heed() -> None:
    """Stop here if somebody has asked to, and the exception was lost."""
    if is_wished() and threading.current_thread() is threading.main_thread():
        raise Interrupted if _state.wish == signal.SIGINT else Stopped


def forgive() -> None:
    """Ctrl-C has been answered in another way: the search has ended with what it has found."""
    if _state.wish == signal.SIGINT and threading.current_thread() is threading.main_thread():
        _state.wish = None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold signals back until the block has ended."""
    if threading.current_thread() is not threading.main_thread():  # the handlers of signals run elsewhere
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in before.items() if handler not in (None, signal.SIG_IGN)}
    try:
        for number in before:
            signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


class Workers(ThreadPoolExecutor):
    """Threads. A signal waits while work is handed over or taken back: a lock could stay locked for ever.

    Examples
    --------
    >>> with Workers(2) as pool:
    ...     list(pool.results(pow, [2, 3], [5, 2]))
    [32, 9]
    """

    def submit(self, work: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Hand work over."""
        with uninterrupted():
            return super().submit(work, *arguments, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads."""
        with uninterrupted():
            super().shutdown(wait, cancel_futures=cancel_futures)

    def __exit__(self, kind: type[BaseException] | None, *what: object) -> None:
        """Wait for what has begun; for what has not, only if all is well."""
        self.shutdown(cancel_futures=kind is not None)

    def results(self, work: Callable[..., T], *items: Iterable[Any]) -> Iterator[T]:
        """Do the work on all items; their results, in order. When one fails, what has not begun is not done."""
        waiting = [self.submit(work, *arguments) for arguments in zip(*items, strict=False)]
        try:
            while waiting:
                with uninterrupted():
                    wait(waiting[:1], _LOOK)
                    done = [one for one in waiting if one.done()]
                    failed = next((fault for one in done if (fault := one.exception()) is not None), None)
                    ready = [one.result() for one in waiting[:1] if one in done and failed is None]
                if failed is not None:
                    raise failed
                yield from ready
                waiting = waiting[len(ready) :]
        finally:
            with uninterrupted():
                for one in waiting:
                    one.cancel()

    def each(self, work: Callable[..., None], *items: Iterable[Any]) -> None:
        """Do the work on all items, and wait."""
        for _ in self.results(work, *items):
            pass


def _answer(number: int, _: FrameType | None) -> None:
    now = time.monotonic()
    if _state.over or (_state.wish is not None and now - _state.when < IMPATIENT):
        return
    _state.wish, _state.when = number, now
    # A search ends with what it has found when Ctrl-C is pressed; nothing takes a kill as a wish of that kind.
    raise Interrupted if number == signal.SIGINT else Stopped
