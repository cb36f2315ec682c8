"""The command line in this process: what a process of its own would do, without its start."""

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from unittest.mock import patch

from kohort.cli.main import run


def called(*arguments, folder, **environment):
    """Run a command in a folder; what it has printed, and how it has ended."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    command, code = ["kohort", *map(str, arguments)], None
    with chdir(folder), patch.dict(os.environ, environment), patch.object(sys, "argv", command):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                run()
        except SystemExit as end:
            code = end.code
    texts = [stream.detach().getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(command, code, *texts)
