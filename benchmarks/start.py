"""How quickly the command line answers: help, and the demo with an empty and a full kernel cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time


def run(*arguments, **environment):
    """Seconds of one command."""
    code = "from kohort.cli.main import run; run()"
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, env=os.environ | environment
    )
    return time.perf_counter() - start


def main():
    print("| command | seconds |")
    print("|---|---|")
    print(f"| kohort --help | {run('--help'):.2f} |")
    with tempfile.TemporaryDirectory() as folder:
        cache = {"XDG_CACHE_HOME": folder}
        for state in ("cold", "warm"):
            print(f"| kohort demo, {state} | {run('demo', '--folder', folder + '/demo', **cache):.1f} |")


if __name__ == "__main__":
    main()
