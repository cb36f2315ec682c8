"""What a private place is."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kohort.common.private import fault_of_folder, make_folder, private_folder, read_secret
from kohort.errors import DataError

NOBODY = 65534
is_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "above" / "mine"
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    return folder


def test_a_folder_of_ones_own_is_private(place):
    assert fault_of_folder(place) is None


@pytest.mark.parametrize(
    ("mode", "secret", "code"), [(0o755, False, True), (0o775, False, False), (0o701, False, True)]
)
def test_others_may_not_enter_or_change_it(place, mode, secret, code):
    place.chmod(mode)
    assert (fault_of_folder(place) is None) == secret
    assert (fault_of_folder(place, readable=True) is None) == code


def test_a_folder_above_that_others_may_change_is_no_shelter(place):
    place.parent.chmod(0o777)
    assert fault_of_folder(place) == f"others may change {place.parent}"
    place.parent.chmod(0o1777)
    assert fault_of_folder(place) is None


def test_a_link_or_file_is_no_private_folder(place):
    (place / "link").symlink_to(place)
    (place / "file").touch()
    assert fault_of_folder(place / "link") == "it is a link or no folder"
    assert fault_of_folder(place / "file") == "it is a link or no folder"
    with pytest.raises(PermissionError):
        make_folder(place / "link")


@is_root
def test_what_belongs_to_somebody_else_is_not_private(place):
    os.chown(place, NOBODY, NOBODY)
    assert fault_of_folder(place) == "it belongs to somebody else"
    os.chown(place, 0, 0)
    os.chown(place.parent, NOBODY, NOBODY)
    assert fault_of_folder(place) == f"{place.parent} belongs to somebody else"


def test_temporary_files_are_refused_where_others_could_swap_them(place, monkeypatch):
    place.chmod(0o777)
    with (
        pytest.raises(DataError, match=r"^temporary files: would not be private, .* set TMPDIR"),
        private_folder("x", place),
    ):
        pass
    assert list(place.iterdir()) == []


@pytest.mark.promise("4.5")
def test_a_folder_that_a_killed_process_left_is_removed_by_its_guard(place):
    code = (
        "import sys, time; from pathlib import Path; from kohort.common.private import private_folder\n"
        "with private_folder('x', Path(sys.argv[1])) as folder:\n"
        "    (folder / 'cells').write_text('secret'); print(flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE)
    process.stdout.readline()
    [folder] = place.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    process.send_signal(signal.SIGKILL)
    process.communicate()
    for _ in range(1000):
        if not folder.exists():
            break
        time.sleep(0.01)
    assert not folder.exists()


@pytest.mark.promise("4.5")
def test_and_by_the_next_run_if_the_guard_is_gone_too(place):
    (place / "x-999999999-1-00000000").mkdir()
    (place / "x-999999999-1-00000000" / "cells").write_text("secret")
    (place / "y-999999999-1-00000000").mkdir()
    with private_folder("x", place, guarded=False):
        assert not (place / "x-999999999-1-00000000").exists()
        assert (place / "y-999999999-1-00000000").exists()


def test_a_key_that_anybody_may_write_is_refused(place):
    key = place / "key"
    key.write_bytes(b"0" * 32)
    key.chmod(0o644)
    assert read_secret(key) == b"0" * 32
    key.chmod(0o666)
    with pytest.raises(OSError, match="anybody may write to it"):
        read_secret(key)
    with pytest.raises(OSError, match="too long for a key"):
        read_secret(Path("/dev/zero"))


@is_root
def test_compiled_code_is_not_read_from_a_folder_below_a_foreign_one(tmp_path, monkeypatch):
    """The folder itself is ours and closed; who owns the one above could put another in its place."""
    from kohort.kernels.jit import cache_directory

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    foreign = tmp_path / f"kohort-{os.getuid()}"
    (foreign / "kernels").mkdir(parents=True, mode=0o700)
    assert cache_directory().is_relative_to(foreign)
    os.chown(foreign, NOBODY, NOBODY)
    assert cache_directory() is None
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(foreign / "kernels"))
    assert cache_directory() is None
