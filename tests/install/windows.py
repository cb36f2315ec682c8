"""Run commands as on Windows: without the modules, functions and signals that it does not have.

``python windows.py FOLDER`` runs the usual commands there; another exit code than 0 or what is left behind is an error.
Libraries are loaded before: what they do on Windows is theirs.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb  # noqa: F401
import numba  # noqa: F401
import numpy  # noqa: F401
import polars  # noqa: F401
import pydantic  # noqa: F401
import rich.console  # noqa: F401
import typer.testing  # noqa: F401

MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "pty", "tty", "syslog", "readline", "crypt", "nis", "spwd")
FUNCTIONS = """
    getuid geteuid getgid getegid fork forkpty killpg setsid getsid getpgid setpgid getpgrp pathconf fpathconf
    mkfifo mknod chown fchown lchown fchmod memfd_create getgroups getgrouplist initgroups uname wait wait3 wait4
    sysconf confstr nice sync sendfile posix_fadvise posix_fallocate pread pwrite setuid ttyname ctermid
    getloadavg copy_file_range splice eventfd pidfd_open openpty
"""
SIGNALS = """
    SIGKILL SIGHUP SIGPIPE SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGQUIT SIGSTOP SIGCONT SIGTSTP SIGWINCH
    pthread_sigmask pthread_kill sigwait setitimer alarm siginterrupt sigpending
"""
FLAGS = ("O_NO", "O_DIR", "O_CLO", "O_SYNC", "O_DSYNC")


def without_posix():
    """Take away what Windows lacks."""
    sys.modules.update(dict.fromkeys(MODULES))
    for name in dir(os):
        if name in FUNCTIONS.split() or name.startswith(("sched_", "getx", "setx", "listx", *FLAGS)):
            delattr(os, name)
    for name in SIGNALS.split():
        if hasattr(signal, name):
            delattr(signal, name)
    opened, text, started = os.open, Path.read_text, subprocess.Popen

    def open_no_folder(path, *how, **more):
        if sys._getframe(1).f_globals["__name__"].startswith("kohort") and Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *how, **more)

    def read_no_system(self, *how, **more):
        if str(self).startswith(("/proc", "/dev")):
            raise FileNotFoundError(2, "No such file or directory", str(self))
        return text(self, *how, **more)

    class NoShell(started):
        def __init__(self, command, *how, **more):
            if str(command[0]) == "/bin/sh":
                raise FileNotFoundError(2, "No such file or directory", str(command[0]))
            super().__init__(command, *how, **more)

        def kill(self):
            self.terminate()  # which is the same there

    os.open, Path.read_text, subprocess.Popen = open_no_folder, read_no_system, NoShell


def called(line):
    """Run a command; every one must end well."""
    from kohort.cli.main import run

    sys.argv = ["kohort", *line.split()]
    try:
        run()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{line}: exit code {end.code}") from None


def main(folder):
    """Run the commands."""
    os.chdir(folder)
    rows = "".join(f"{n},{20 + n % 50},{'mf'[n % 2]},{'abc'[n % 3]}\n" for n in range(300))
    Path("t.csv").write_text("id,age,sex,diagnosis\n" + rows, encoding="utf-8")
    Path("u.csv").write_bytes("größe;ort\n".encode("cp1252") + b"".join(b"%d;x\n" % (n % 9) for n in range(90)))
    without_posix()
    for line in (
        "init t.csv -o p.toml --k 5 -q",
        "check t.csv -p p.toml",
        "anonymize t.csv -p p.toml -o r.csv --bound-effort 0 -q",
        "verify r.csv -q",
        "verify r.csv -p p.toml --original t.csv -q",
        "anonymize t.csv -p p.toml -o r.csv --bound-effort 0 -q --force",
        "anonymize t.csv -p p.toml -o r.parquet --bound-effort 0 -q --memory 1GB",
        "anonymize t.csv -p p.toml -o s.csv --bound-effort 0 -q --ledger l.json --private s.json --row-order o.txt",
        "verify s.csv -p p.toml --against l.json --original t.csv --row-order o.txt -q",
        "measure r.csv -p p.toml --original t.csv -q",
        "codebook r.csv -o book.csv",
        "hierarchy suggest t.csv diagnosis -o h.csv",
        "init u.csv -o q.toml --k 3 -q",
        "compare t.csv -p p.toml --algorithms fast",
        "why t.csv -p p.toml",
    ):
        called(line)
    left = [path.name for path in Path().iterdir() if path.name.startswith(".")]
    left += [path.name for path in Path(os.environ["TMPDIR"]).iterdir() if path.name.startswith("kohort")]
    if left:
        raise RuntimeError(f"left behind: {left}")
    sys.stdout.write("all commands ended well\n")


if __name__ == "__main__":
    main(sys.argv[1])
