"""What all tests share.

One profile for every property-based test: new examples on a developer's machine, the same ones in CI. ``--quick``
leaves a few examples of each kind. And what is measured rather than judged is shown at the end of the run.
"""

import gc
import os
import signal
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from helpers import bounds, promises
from kohort.common import stopping

settings.register_profile(
    "kohort",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),
)
QUICK_EXAMPLES = 3
"""Examples of a property-based test that ``--quick`` runs."""
settings.register_profile("quick", settings.get_profile("kohort"), max_examples=QUICK_EXAMPLES)
settings.load_profile("kohort")
bounds.save_effort()

# A run in the background ignores Ctrl-C, and so would the programs that tests start to press it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--promises", metavar="FILE", help="write which promise is held by which test, and how it went")
    parser.addoption("--quick", action="store_true", help="a few examples of each kind, none that is slow")


def pytest_configure(config):
    if config.getoption("--quick"):
        settings.load_profile("quick")
    # Tests are thousands of objects that stay; to look for cycles in them again and again takes a part of every test.
    gc.set_threshold(100_000, 20, 100)


def pytest_collection_finish():
    """What has been collected stays until the end."""
    gc.freeze()


def pytest_unconfigure():
    gc.unfreeze()


_HANDLERS = {number: signal.getsignal(number) for number in stopping.SIGNALS}


@pytest.fixture
def full_bounds():
    """Lower bounds with the effort that users get."""
    with bounds.full_effort():
        yield


@pytest.fixture(autouse=True)
def _signals():
    """The command line answers signals until its interpreter ends; here, that is the one of all tests, and fixtures."""
    for number, handler in _HANDLERS.items():
        signal.signal(number, handler)
    yield
    stopping.over()


def pytest_collection_modifyitems(config, items):
    """Long tests first: one that begins last would keep all other cores waiting."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if config.getoption("--quick"):
        kept = set(_quick(items))
        for item in kept:
            _few_examples(item)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def _quick(items):
    """One case of every test that is not slow; its name says which, so that tests of one kind have different ones."""
    cases = {}
    for item in items:
        if not item.get_closest_marker("slow") and not item.get_closest_marker("spark"):
            cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    for name, several in cases.items():
        yield several[crc32(name.encode()) % len(several)]


def _few_examples(item):
    """Let a property-based test that names a number of examples run a few of them."""
    test = getattr(item, "obj", None)
    asked = getattr(test, "_hypothesis_internal_use_settings", None)
    if asked is not None and asked.max_examples > QUICK_EXAMPLES:
        test._hypothesis_internal_use_settings = settings(asked, max_examples=QUICK_EXAMPLES)


def pytest_terminal_summary(terminalreporter, config):
    """Write the page of the promises, and show what was measured."""
    if config.getoption("--promises"):
        Path(config.getoption("--promises")).write_text(promises.page(_outcomes(terminalreporter)), encoding="utf-8")
    _show_ratios(terminalreporter)


def _outcomes(terminalreporter):
    """How often each test, with any parameters, ended in which way."""
    counted = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            counted.setdefault(report.nodeid.split("[")[0], Counter())[outcome] += 1
    return counted


def _show_ratios(terminalreporter):
    """Show how near each algorithm came to the optimum of small tables (tests/contract/test_optimum.py)."""
    ratios = {}
    for report in terminalreporter.stats.get("passed", []):
        for name, ratio in getattr(report, "user_properties", ()):
            if name == "ratio to the optimum":
                ratios[report.nodeid.split("[")[-1].removesuffix("]")] = ratio
    if ratios:
        terminalreporter.section("loss / least possible loss, on tables of up to 12 records")
        terminalreporter.write_line(f"{'algorithm':<20} {'mean':>6} {'worst':>6}")
        for name, ratio in sorted(ratios.items(), key=lambda item: item[1]["mean"]):
            terminalreporter.write_line(f"{name:<20} {ratio['mean']:>6.3f} {ratio['worst']:>6.3f}")
