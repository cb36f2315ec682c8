"""Files that appear together, or not at all."""

import json
import os
import signal
import subprocess
import sys

import pytest

from kohort.common import stopping
from kohort.common.private import owner
from kohort.errors import DataError, Interrupted, Stopped
from kohort.table import safe
from kohort.table.safe import together, write_text


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def old(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"old {name}")
    return tmp_path


def write_three(folder, *settled):
    with together(*settled) as files:
        for name in ("a", "b", "c"):
            files.text(folder / name, f"new {name}")


def test_all_appear(old):
    write_three(old)
    assert contents(old) == {"a": "new a", "b": "new b", "c": "new c"}


@pytest.mark.promise("3.4")
@pytest.mark.parametrize("failing", ["a", "b", "c"])
def test_if_one_cannot_appear_the_others_go_back(old, monkeypatch, failing):
    appear = safe._Target.appear

    def refuse(target):
        if target.path.name == failing:
            raise OSError(28, "No space left on device")
        appear(target)

    monkeypatch.setattr(safe._Target, "appear", refuse)
    with pytest.raises(DataError, match=rf"^{failing}: cannot be written \(No space left on device\)"):
        write_three(old)
    assert contents(old) == {"a": "old a", "b": "old b"}


def test_an_error_inside_leaves_all_as_it_was(old):
    def write():
        with together() as files:
            files.text(old / "a", "new")
            files.folder(old / "folder")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert contents(old) == {"a": "old a", "b": "old b"}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_private_file_is_for_its_owner_alone(tmp_path, umask):
    (tmp_path / "private").write_text("old")
    (tmp_path / "private").chmod(0o666)
    before = os.umask(umask)
    try:
        write_text(tmp_path / "private", "new", private=True)
        write_text(tmp_path / "public", "new")
    finally:
        os.umask(before)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "public").stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_waits_until_all_are_there(old, monkeypatch, number):
    """It comes between two of the files, and is answered when all of them and what belongs to them are settled."""
    appear, settled = safe._Target.appear, []

    def and_signal(target):
        appear(target)
        if target.path.name == "a":
            signal.raise_signal(number)

    monkeypatch.setattr(safe._Target, "appear", and_signal)
    signal.signal(number, signal.SIG_DFL)  # under nohup, a lost terminal would be ignored
    stopping.begin()
    with pytest.raises(Interrupted if number == signal.SIGINT else Stopped):
        write_three(old, lambda: settled.append(1))
    assert settled == [1]
    assert contents(old) == {"a": "new a", "b": "new b", "c": "new c"}


CRASH = """
import os, sys
from pathlib import Path
from kohort.table import safe
moment = int(sys.argv[1])
steps = 0
def counted(name):
    real = getattr(safe._Target, name)
    def step(target):
        global steps
        if steps == moment:
            os._exit(9)
        steps += 1
        return real(target)
    setattr(safe._Target, name, step)
for name in ("move_aside", "link_aside", "appear"):
    counted(name)
with safe.together() as files:
    for name in "abc":
        files.text(Path(name), f"new {name}")
"""


@pytest.mark.parametrize("moment", range(7))
def test_a_process_that_dies_in_between_is_finished_by_the_next(old, moment):
    """Never a file beside another one's companions; and after the next run, all of them are there."""
    done = subprocess.run([sys.executable, "-c", CRASH, str(moment)], cwd=old, check=False)
    assert done.returncode == (9 if moment < 6 else 0)
    seen = {name: text for name, text in contents(old).items() if not name.startswith(".")}
    assert {text.split()[0] for text in seen.values()} in ({"old"}, {"new"}) or seen["a"] == "old a"
    if seen["a"] == "new a":
        assert "old b" not in seen.values()
    write_text(old / "d", "another")
    found = contents(old)
    assert {name: found[name] for name in "abcd"} == {"a": "new a", "b": "new b", "c": "new c", "d": "another"}
    write_three(old)
    assert set(contents(old)) == set("abcd")


def test_a_note_of_somebody_else_moves_nothing(old):
    """Only drafts of the process that wrote it are moved, and only within their folder."""
    secret = old / "secret"
    secret.write_text("keep")
    dead = "999999999-1-00000000"
    note = old / f".a.kohort-commit-{dead}"
    note.write_text(json.dumps([[str(secret), str(old / "a")], [str(old / f".x.kohort-{owner()}"), str(old / "b")]]))
    write_text(old / "c", "new")
    assert contents(old) == {"a": "old a", "b": "old b", "c": "new", "secret": "keep"}


def test_drafts_of_dead_processes_are_removed_also_of_one_with_this_number(old):
    for name in (
        f".a.kohort-{os.getpid()}-1-00000000.csv",
        ".a.kohort-999999999-5-00000000",
        ".a.kohort-999999999-5-0000000a.old",
    ):
        (old / name).write_text("draft")
    alive = old / f".a.kohort-{owner()}"
    alive.write_text("draft")
    write_text(old / "a", "new")
    assert set(contents(old)) == {"a", "b", alive.name}
