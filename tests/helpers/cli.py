"""The command line in this process: what a process of its own would do, without its start."""

import io
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from kohort.cli.main import run
from kohort.common.stopping import SIGNALS


def called(*arguments, folder, **environment):
    """Run a command in a folder; what it has printed, and how it has ended."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    command, code = ["kohort", *map(str, arguments)], None
    with _signals_kept(), chdir(folder), patch.dict(os.environ, environment), patch.object(sys, "argv", command):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                run()
        except SystemExit as end:
            code = end.code
    texts = [stream.detach().getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(command, code, *texts)


@contextmanager
def _signals_kept():
    """A command that has ended ignores signals; here, processes that are started later would ignore them, too."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def wait_for_work(process, seconds):
    """Wait until a process has used so much CPU time, or ended: however busy the machine is, it is as far then."""
    while process.poll() is None and _worked(process) < seconds:
        time.sleep(0.05)


def _worked(process):
    """CPU time so far; where the system has no file that tells it, the clock must do."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        time.sleep(10)
        return math.inf
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
