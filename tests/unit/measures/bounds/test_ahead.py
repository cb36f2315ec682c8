"""The first run on a machine: kernels of the bound are compiled in a process beside."""

import subprocess

import pytest

from kohort.kernels.bounds import bound, bound_tree
from kohort.measures.bounds import ahead


def test_every_kernel_of_the_bound_is_compiled():
    ahead.compile_kernels()
    for module in (bound, bound_tree):
        compiled = {name: bool(kernel.signatures) for name, kernel in vars(module).items() if is_of(kernel, module)}
        assert compiled
        assert all(compiled.values()), compiled


def is_of(kernel, module):
    """Whether it is a kernel that Python calls, and not one that the module imports."""
    return hasattr(kernel, "signatures") and kernel.py_func.__module__ == module.__name__


@pytest.fixture
def started(monkeypatch):
    """Processes that are started; they would take a minute."""
    found, popen = [], subprocess.Popen
    monkeypatch.setattr(ahead, "_COMMAND", "import time; time.sleep(60)")
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **how: found.append(popen(*given, **how)) or found[-1])
    return found


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt])
def test_the_process_ends_with_the_work(started, monkeypatch, error):
    monkeypatch.setattr(ahead, "_is_worth_it", lambda: True)
    try:
        with ahead.compiled_ahead(wanted=True):
            assert [process.poll() for process in started] == [None]
            if error:
                raise error
    except (RuntimeError, KeyboardInterrupt):
        assert error
    assert started[0].returncode


@pytest.mark.parametrize(("wanted", "first", "cores"), [(False, True, 2), (True, False, 2), (True, True, 1)])
def test_nothing_is_started_where_it_is_not_worth_it(started, monkeypatch, wanted, first, cores):
    monkeypatch.setattr(ahead, "is_first_run", lambda: first)
    monkeypatch.setattr(ahead, "cores", lambda: cores)
    with ahead.compiled_ahead(wanted=wanted):
        assert not started
