"""The core works without what Windows does not have; simulated, as no Windows is here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_usual_commands_need_nothing_of_posix(tmp_path):
    work, scratch = tmp_path / "work", tmp_path / "scratch"
    work.mkdir()
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("windows.py")), str(work)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"TMPDIR": str(scratch)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "all commands ended well"
