"""What an ordinary user runs into: rights, folders of others, and limits. Each is a sentence, and never a bug of ours.

Root may do anything, so these commands run as another user if the tests run as root.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kohort
from faults.harness import CELLS, DATA, JARGON, POLICY, SEE, contents, place

NOBODY = 65534
IS_ROOT = os.getuid() == 0
USER = NOBODY if IS_ROOT else os.getuid()
CODE = "from kohort.cli.main import run; run()"
RELEASE = (
    "anonymize",
    "people.csv",
    "-p",
    "policy.toml",
    "-o",
    "release.csv",
    "--algorithm",
    "fast",
    "--bound-effort",
    "0",
)


PASSAGE = """
set -e
mount --bind "$2" /mnt; mount -t tmpfs -o mode=755 none "$1"; mkdir -p "$2"; mount --bind /mnt "$2"
shift 2; exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
"""
"""Where the interpreter lies in a folder that only root may enter, the user sees nothing else of that folder."""


def as_user(*command: str) -> list[str]:
    """A command as that of an ordinary user."""
    if not IS_ROOT:
        return list(command)
    python = Path(sys.executable).resolve()
    closed = [folder for folder in reversed(python.parents) if not folder.stat().st_mode & 0o001]
    if not closed:
        return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command]
    below = closed[0] / python.relative_to(closed[0]).parts[0]
    return ["unshare", "-m", "bash", "-c", PASSAGE, "bash", str(closed[0]), str(below), *command]


def can_run() -> bool:
    """Whether the user can use this interpreter and this package at all."""
    command = as_user(sys.executable, "-c", "import kohort, polars, duckdb")
    done = subprocess.run(command, env=environment(Path("/")), capture_output=True, check=False)
    return done.returncode == 0


def environment(home: Path) -> dict[str, str]:
    source = str(Path(kohort.__file__).parents[1])
    return {"PATH": os.environ["PATH"], "PYTHONPATH": source, "HOME": str(home), "POLARS_MAX_THREADS": "2"}


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(IS_ROOT and not can_run(), reason="the interpreter is in a folder that only root may enter"),
]


@pytest.fixture
def desk(tmp_path_factory):
    """A folder of the user, in a place that everybody may enter."""
    import tempfile

    base = Path(tempfile.mkdtemp(prefix="kohort-desk-"))
    base.chmod(0o755)
    folder = base / "desk"
    place(folder, {"policy.toml": POLICY, "people.csv": DATA})
    give(folder)
    yield folder
    shutil.rmtree(base)


def give(folder: Path, user: int = USER) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, -1)


def call(folder: Path, *arguments: str, limits: dict[int, int] | None = None, **more: str):
    def limit() -> None:
        for kind, value in (limits or {}).items():
            resource.setrlimit(kind, (value, value))

    return subprocess.run(
        as_user(sys.executable, "-c", CODE, *arguments),
        cwd=folder,
        env=environment(folder) | {"TMPDIR": str(folder)} | more,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )


def assert_refused(done, sentence: str) -> None:
    assert done.returncode == 2, done.stderr
    line, see = done.stderr.splitlines()
    assert SEE.fullmatch(see)
    assert re.fullmatch(f"error: {sentence}", line), line
    assert not JARGON.search(line)
    assert not CELLS.search(done.stderr + done.stdout)


@pytest.mark.parametrize("name", ["people.csv", "policy.toml"])
def test_an_input_that_may_not_be_read(desk, name):
    (desk / name).chmod(0)
    before = {path.name for path in desk.iterdir()}
    assert_refused(call(desk, *RELEASE), rf".*{name}.* (cannot be read|is not readable).*\.")
    # a first run may have begun to compile kernels, which are kept at home
    assert {path.name for path in desk.iterdir()} - {".cache"} == before - {".cache"}


@pytest.mark.parametrize("options", [(), ("--memory", "1GB"), ("--memory", "1GB", "--resume")])
def test_a_folder_that_may_not_be_written(desk, options):
    (desk / "out").mkdir()
    (desk / "out").chmod(0o555)
    done = call(desk, "anonymize", "people.csv", "-p", "policy.toml", "-o", "out/release.csv", *options)
    assert_refused(done, r"release\.csv: cannot be written \(no access to its folder\); give another path\.")
    assert contents(desk / "out") == {}


@pytest.mark.skipif(not IS_ROOT, reason="only root can make folders of others")
@pytest.mark.parametrize("mode", [0o777, 0o700])
def test_a_resume_folder_that_somebody_else_made(desk, mode):
    kept = desk / ".release.csv.kohort-resume"
    kept.mkdir()
    kept.chmod(mode)
    done = call(desk, *RELEASE, "--memory", "1GB", "--resume")
    assert_refused(
        done, r"resume: finished partitions cannot be kept .*\((it belongs to somebody else|Permission denied)\).*\."
    )
    assert contents(kept) == {}


def test_a_resume_folder_that_others_may_enter(desk):
    kept = desk / ".release.csv.kohort-resume"
    kept.mkdir()
    kept.chmod(0o755)
    give(kept)
    done = call(desk, *RELEASE, "--memory", "1GB", "--resume")
    assert_refused(done, r"resume: finished partitions cannot be kept .*\(others may enter it\).*\.")


def test_a_resume_folder_where_others_could_replace_it(desk):
    desk.chmod(0o777)
    done = call(desk, *RELEASE, "--memory", "1GB", "--resume")
    assert_refused(done, r"resume: finished partitions cannot be kept .*\(others may change .*desk\).*\.")


def test_temporary_files_where_others_could_replace_them(desk):
    (desk / "tmp").mkdir()
    give(desk / "tmp")
    (desk / "tmp").chmod(0o777)
    done = call(desk, *RELEASE, TMPDIR=str(desk / "tmp"))
    assert_refused(done, r"temporary files: would not be private, as others may change .*; set TMPDIR .*\.")
    assert contents(desk / "tmp") == {}


LIMITS = {
    "open-files": ({resource.RLIMIT_NOFILE: 24}, "(more open files|Too many open files)"),
    "file-size": ({resource.RLIMIT_FSIZE: 64}, "(No space left on device|File too large|disk is full)"),
    "processes": ({resource.RLIMIT_NPROC: 1}, "no more threads or processes"),
    "addresses": ({resource.RLIMIT_AS: 400 << 20}, "400 MB of addresses, and libraries need"),
    "data": ({resource.RLIMIT_DATA: 700 << 20}, "700 MB of addresses, and libraries need"),
}


@pytest.mark.parametrize("command", ["anonymize", "check", "verify", "compare"])
def test_no_room_for_any_file(desk, command):
    call(desk, *RELEASE)
    before = contents(desk)
    asked = {
        "anonymize": ("people.csv", "-o", "other.csv"),
        "check": ("people.csv",),
        "verify": ("release.csv", "--original", "people.csv"),
        "compare": ("people.csv", "--algorithms", "fast", "-o", "figures.csv"),
    }[command]
    done = call(desk, command, *asked, "-p", "policy.toml", limits={resource.RLIMIT_FSIZE: 0})
    assert done.returncode in (0, 2), done.stderr
    shutil.rmtree(desk / ".cache", ignore_errors=True)  # compiled code, which is no part of any result
    assert contents(desk) == {name: held for name, held in before.items() if not name.startswith(".cache")}


def test_a_key_that_others_may_write_to(desk):
    call(desk, *RELEASE)
    assert call(desk, "certificate", "keygen", "key").returncode == 0
    (desk / "key").chmod(0o666)
    done = call(desk, "certificate", "make", "release.csv", "-p", "policy.toml", "-o", "cert.json", "--key", "key")
    assert_refused(done, r"key: cannot be read \(anybody may write to it\)\.")
    assert not (desk / "cert.json").exists()


@pytest.mark.parametrize(("limits", "said"), LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("options", [(), ("--memory", "1GB")], ids=["memory", "disk"])
def test_limits_end_in_a_sentence_or_are_no_hindrance(desk, limits, said, options):
    before = contents(desk)
    done = call(desk, *RELEASE, *options, limits=limits, NUMBA_CACHE_DIR=str(desk / "numba"))
    assert done.returncode in (0, 2), done.stderr
    if done.returncode:
        assert_refused(done, f".*{said}.*")
        shutil.rmtree(desk / "numba", ignore_errors=True)
        shutil.rmtree(desk / ".cache", ignore_errors=True)
        assert contents(desk) == before
