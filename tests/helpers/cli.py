"""The command line in this process: what a process of its own would do, without its start."""

import io
import os
import signal
import subprocess
import sys
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
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
