"""The first run on a machine: the kernels that take longest are compiled in processes beside it."""

import subprocess

import pytest

import kohort
from kohort.datasets import patients
from kohort.kernels import ahead
from kohort.kernels.ahead import BOUND, SEARCH
from kohort.kernels.bounds import bound, bound_tree
from kohort.kernels.search.search import carry_out
from kohort.measures.bounds.ahead import compile_kernels as compile_bound
from kohort.search.ahead import compile_kernels as compile_search


def test_every_kernel_of_the_bound_is_compiled():
    compile_bound()
    for module in (bound, bound_tree):
        compiled = {name: bool(kernel.signatures) for name, kernel in vars(module).items() if is_of(kernel, module)}
        assert compiled
        assert all(compiled.values()), compiled


def is_of(kernel, module):
    """Whether it is a kernel that Python calls, and not one that the module imports."""
    return hasattr(kernel, "signatures") and kernel.py_func.__module__ == module.__name__


def test_a_search_asks_for_no_other_kernel_than_is_compiled():
    compile_search()
    columns = ["birth_date", "sex", "zip_code"]
    policy = kohort.Policy.build(k=3, quasi_identifiers=columns, seed=1)
    kohort.anonymize(patients(60, seed=1).select(columns), policy)
    rules = carry_out.py_func.__code__.co_varnames.index("rules")
    assert sum(str(signature[rules]) == "none" for signature in carry_out.signatures) == 1


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
        with ahead.compiled_ahead([SEARCH, BOUND]):
            assert [process.poll() for process in started] == [None, None]
            if error:
                raise error
    except (RuntimeError, KeyboardInterrupt):
        assert error
    assert all(process.returncode for process in started)
    ahead.await_kernels(SEARCH)  # nobody is waited for any more


def test_kernels_that_are_being_compiled_are_waited_for(started, monkeypatch):
    monkeypatch.setattr(ahead, "_is_worth_it", lambda: True)
    monkeypatch.setattr(ahead, "_COMMAND", "import time; time.sleep(0.1)")
    with ahead.compiled_ahead([SEARCH]):
        ahead.await_kernels(BOUND)
        ahead.await_kernels(SEARCH)
        assert [process.returncode for process in started] == [0]


@pytest.mark.parametrize(("modules", "first", "cores"), [([], True, 2), ([BOUND], False, 2), ([BOUND], True, 1)])
def test_nothing_is_started_where_it_is_not_worth_it(started, monkeypatch, modules, first, cores):
    monkeypatch.setattr(ahead, "is_first_run", lambda: first)
    monkeypatch.setattr(ahead, "cores", lambda: cores)
    with ahead.compiled_ahead(modules):
        assert not started
