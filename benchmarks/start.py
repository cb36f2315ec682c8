"""Where the time goes before and around the work: `fast` on Adult through the command line, and how quickly it answers.

Seconds of CPU time, the least of several runs, since those are the same however busy the machine is; the clock beside
them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 5
COMMAND = "from kohort.cli.main import main; main()"
TIMED = """
import atexit, contextlib, importlib.machinery, json, os, sys, time
clock, spent, inner = time.process_time, {}, [0.0]
spent["interpreter"] = clock()

def note(name, seconds):
    spent[name] = spent.get(name, 0.0) + seconds

def timed(function, name_of):
    def call(*arguments, **options):
        inner.append(0.0)
        start = clock()
        try:
            return function(*arguments, **options)
        finally:
            whole = clock() - start
            note(name_of(*arguments), whole - inner.pop())
            inner[-1] += whole
    return call

for loader in (importlib.machinery.SourceFileLoader, importlib.machinery.ExtensionFileLoader):
    loader.exec_module = timed(loader.exec_module, lambda _, module: "import " + module.__name__.partition(".")[0])
import kohort.common.progress as progress
from kohort.cli.main import main
import numba.core.dispatcher as dispatcher

dispatcher.Dispatcher.compile = timed(dispatcher.Dispatcher.compile, lambda *_: "load kernels")
step = progress.Clock.step

@contextlib.contextmanager
def timed_step(self, name):
    inner.append(0.0)
    start = clock()
    with step(self, name):
        yield
    whole = clock() - start
    note("step " + name, whole - inner.pop())
    inner[-1] += whole

progress.Clock.step = timed_step

def tell():
    spent["the rest"] = clock() - sum(spent.values())
    with open(os.environ["SPENT"], "w") as file:
        json.dump(spent, file)

atexit.register(tell)
main()
"""


def run(code, *arguments, **environment):
    """Clock and CPU seconds of one command."""
    before, start = os.times(), time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | environment
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, capture_output=True, env=environment)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, cpu


def best(code, *arguments, before=lambda: None, **environment):
    """The least clock and CPU time of several runs, after one that warms everything."""
    found = []
    for _ in range(RUNS + 1):
        before()
        found.append(run(code, *arguments, **environment))
    return tuple(map(min, zip(*found[1:], strict=True)))


def answers(folder):
    """How quickly the command line answers."""
    print("| command | clock, s | CPU, s |")
    print("|---|---|---|")
    print("| kohort --help | {:.2f} | {:.2f} |".format(*best(COMMAND, "--help")))
    for state in ("cold", "warm"):
        seconds = run(COMMAND, "demo", "--folder", folder / "demo", XDG_CACHE_HOME=str(folder))
        print("| kohort demo, {} | {:.1f} | {:.1f} |".format(state, *seconds))


def shares(folder):
    """What `fast` on Adult spends its time with, and what a run takes in all."""
    import tables

    import kohort

    kohort.datasets.adult().write_csv(folder / "adult.csv")
    policy = tables.adult_policy(tables.EIGHT, 10).with_changes("algorithm", name="fast")
    (folder / "policy.toml").write_text(policy.to_toml())
    output, spent = folder / "release.csv", folder / "spent.json"
    arguments = (
        "anonymize",
        folder / "adult.csv",
        "-p",
        folder / "policy.toml",
        "-o",
        output,
        "--bound-effort",
        0,
        "--force",
    )
    parts = []

    def note():
        output.unlink(missing_ok=True)
        if spent.exists():
            parts.append(json.loads(spent.read_text()))

    best(TIMED, *arguments, before=note, SPENT=str(spent))
    note()
    print("\n| fast on Adult | CPU, ms |")
    print("|---|---|")
    least = {name: min(part.get(name, 0.0) for part in parts) for name in parts[-1]}
    for name, seconds in sorted(least.items(), key=lambda item: -item[1]):
        if seconds >= 0.01:
            print(f"| {name} | {1000 * seconds:.0f} |")
    clock, cpu = best(COMMAND, *arguments, before=note)
    print(f"\nin all: {clock:.2f} s on the clock, {cpu:.2f} s of CPU time")


def main():
    with tempfile.TemporaryDirectory() as name:
        shares(Path(name))
        answers(Path(name))


if __name__ == "__main__":
    main()
