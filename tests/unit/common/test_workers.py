"""Threads that a signal does not cut off in the middle of handing work over."""

import signal
import threading
import time

import pytest

from kohort.common import stopping


def test_results_come_in_order():
    with stopping.Workers(2) as pool:
        assert list(pool.results(lambda wait, value: time.sleep(wait) or value, [0.05, 0.0], [1, 2])) == [1, 2]


def test_a_fault_is_raised_and_what_has_not_begun_is_not_done():
    begun = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 0:
            raise ValueError("zero")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="zero"), stopping.Workers(1) as pool:
        list(pool.results(work, range(1000)))
    assert len(begun) < 1000


def test_a_signal_during_work_ends_it_and_no_thread_is_left():
    def endless() -> None:
        with stopping.Workers(2) as pool:
            pool.submit(lambda: signal.pthread_kill(main, signal.SIGTERM))
            for _ in range(10_000):
                list(pool.results(time.sleep, [0.001, 0.001]))

    before, main = threading.active_count(), threading.main_thread().ident
    handlers = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    stopping.begin()
    try:
        with pytest.raises(stopping.Stopped):
            endless()
    finally:
        stopping.over()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert threading.active_count() == before
