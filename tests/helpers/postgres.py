"""A PostgreSQL server of the tests: in a temporary folder, reachable by a socket there, gone at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)


def program(name):
    """Where a program of the server is; None if it is not installed."""
    found = [path / name for path in PLACES if (path / name).exists()]
    return str(found[0]) if found else shutil.which(name)


@contextmanager
def server() -> Iterator[str]:
    """Start a server as a user without rights; gives the folder of its socket."""
    if program("initdb") is None:
        missing = "no PostgreSQL server is installed (Debian: apt-get install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    # a short name, as that of a socket is limited; and one that another user can enter
    folder = Path(tempfile.mkdtemp(prefix="kpg", dir="/tmp"))
    as_user = []
    if os.getuid() == 0:
        # the server refuses to be run by root
        user = (
            "postgres"
            if subprocess.run(["id", "postgres"], capture_output=True, check=False).returncode == 0
            else "nobody"
        )
        shutil.chown(folder, user)
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        if user == "nobody":
            as_user[2] = "--regid=nogroup"
    run = lambda *command: subprocess.run([*as_user, *command], check=True, capture_output=True, cwd=folder)  # noqa: E731
    try:
        run(program("initdb"), "-D", "data", "-U", "steward", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off -c max_connections=20"
        run(program("pg_ctl"), "-D", "data", "-w", "-o", options, "-l", "log", "start")
        try:
            yield str(folder)
        finally:
            run(program("pg_ctl"), "-D", "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
