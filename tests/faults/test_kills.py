"""Kills at any moment: the old release or the new one, with its own verdict, and no remains.

`make kills N=200` runs any number; the suite runs a few. Half of them start the command line, wait until it answers
signals, and then for a random share of the time that a whole run takes. The others run it in this process, and send the
signal at a random one of all calls of functions: so every place is met, however short it takes.
"""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import pytest

import kohort
from faults.harness import command
from kohort.datasets import patients

KILLS = int(os.environ.get("KOHORT_KILLS", "24"))
SEED = int(os.environ.get("KOHORT_KILLS_SEED", "1"))
CODE = "from kohort.cli.main import run; run()"
POLITE = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STOPPED = {False: "stopped; nothing was published.\n", True: "stopped; the release was published before.\n"}

RELEASE = ("anonymize", "people.csv", "-p", "policy.toml", "--private", "private.json", "--force")
COMMANDS = {
    "memory": (*RELEASE, "-o", "out.csv"),
    "disk": (*RELEASE, "-o", "out.csv", "--memory", "1GB", "--partitions", "4"),
    "parquet": (*RELEASE, "-o", "out.parquet", "--ledger", "ledger.json"),
    "verify": ("verify", "out.csv", "-p", "policy.toml", "--original", "people.csv", "--memory", "500MB"),
}


@dataclass(frozen=True)
class Stage:
    """A folder with a table, a policy and an old release, and another one for temporary files."""

    folder: Path
    temporary: Path

    @classmethod
    def of(cls, folder: Path) -> "Stage":
        stage = cls(folder / "work", folder / "tmp")
        stage.folder.mkdir()
        stage.temporary.mkdir(mode=0o700)
        table = patients(1500, seed=3)
        table.write_csv(stage.folder / "people.csv")
        policy = kohort.Policy.build(
            k=4,
            identifiers=["name"],
            quasi_identifiers=["birth_date", "sex", "zip_code"],
            sensitive=["diagnosis"],
            insensitive=[c for c in table.columns if c not in {"name", "birth_date", "sex", "zip_code", "diagnosis"}],
            hierarchies={"zip_code": {"prefix": [5, 3]}},
        )
        (stage.folder / "policy.toml").write_text(policy.to_toml())
        return stage

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", CODE, *arguments],
            cwd=self.folder,
            env=os.environ | {"TMPDIR": str(self.temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> None:
        process = self.start(*arguments)
        _, said = process.communicate()
        assert process.returncode == 0, said

    def names(self) -> set[str]:
        return {path.name for folder in (self.folder, self.temporary) for path in folder.iterdir()}


def answers_signals(process: subprocess.Popen[str]) -> bool:
    """Whether the process has come so far that it answers signals itself."""
    try:
        facts = Path(f"/proc/{process.pid}/status").read_text()
    except FileNotFoundError:
        return False
    caught = int(next(line for line in facts.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)


def killed(stage: Stage, arguments: tuple[str, ...], number: signal.Signals, delay: float) -> tuple[int, str]:
    """Start a command, kill it, and return its exit code and what it said."""
    process = stage.start(*arguments)
    until(lambda: process.poll() is not None or answers_signals(process))
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    _, said = process.communicate()
    return process.returncode, said


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def judge(stage: Stage, name: str, old: str, number: signal.Signals, code: int, said: str) -> None:
    """What must be true after every kill."""
    assert code in ({0, -number} if number == signal.SIGKILL else {0, 130}), said
    assert "Traceback" not in said
    if name == "verify":
        assert said in ("", STOPPED[False])
        return
    out = stage.folder / ("out.parquet" if name == "parquet" else "out.csv")
    is_new = digest(out) != old
    if code == 130:
        assert said == STOPPED[is_new]
    if code == 0:
        assert is_new
        assert said == ""
    for document in (out.with_name(f"{out.name}.verdict.json"), stage.folder / "private.json"):
        if document.exists() or number != signal.SIGKILL:
            assert json.loads(document.read_text())["hashes"]["release"] == digest(out), document.name
    assert (stage.folder / "private.json").stat().st_mode & 0o777 == 0o600
    ledger = stage.folder / "ledger.json"
    if name == "parquet" and is_new:
        [entry] = json.loads(ledger.read_text())["releases"]
        assert entry["release"] == digest(out)
    elif number != signal.SIGKILL:  # which may leave an entry that is pending
        assert not ledger.exists()


@pytest.mark.promise("3.4", "4.5")
@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_at_any_moment_leaves_the_old_release_or_the_new_one(tmp_path, name):
    chance = random.Random(SEED)
    stage = Stage.of(tmp_path)
    arguments = COMMANDS[name]
    if name == "verify":
        stage.run(*COMMANDS["memory"])
    start = time.monotonic()
    stage.run(*arguments)
    whole = time.monotonic() - start
    clean = stage.names()
    signals = cycle((signal.SIGKILL, *POLITE))
    for _ in range(max(1, KILLS // 2 // len(COMMANDS))):
        number, delay = next(signals), chance.uniform(0, whole)
        (stage.folder / "ledger.json").unlink(missing_ok=True)  # or the release would be compared with all before
        old = digest(stage.folder / ("out.parquet" if name == "parquet" else "out.csv"))
        before = stage.names()
        code, said = killed(stage, arguments, number, delay)
        try:
            judge(stage, name, old, number, code, said)
            if number != signal.SIGKILL:  # what that one leaves is removed by the next run that gets so far
                assert stage.names() <= before | clean
        except AssertionError as error:
            raise AssertionError(f"{name}, {number.name} after {delay:.3f} s, seed {SEED}: {error}") from error
    (stage.folder / "ledger.json").unlink(missing_ok=True)
    stage.run(*arguments)
    assert stage.names() == clean


class Caller:
    """Counts calls of functions in the main thread, and sends a signal at one of them.

    Python looks for signals when one of its own functions begins, and when one in C has returned. Before one in C is
    called it does not: the end of a ``with`` is such a call, and a lock would stay locked for ever.
    """

    def __init__(self, number: signal.Signals | None = None, moment: int = 0) -> None:
        self.calls = 0
        self.number = number
        self.moment = moment

    def __call__(self, frame, event, argument) -> None:
        if event in ("call", "c_return"):
            self.calls += 1
            if self.calls == self.moment:
                sys.setprofile(None)
                signal.raise_signal(self.number)


def called(stage: Stage, capfd, caller: Caller | None, arguments: tuple[str, ...]) -> tuple[int, str]:
    """Run a command in this process, with or without somebody who counts; its exit code, and what it said."""
    sys.setprofile(caller)
    try:
        ended = command(capfd, *arguments)
    finally:
        sys.setprofile(None)
    return ended.code, ended.err


@pytest.mark.promise("3.4")
@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_at_any_call_leaves_the_old_release_or_the_new_one(tmp_path, name, capfd, monkeypatch):
    chance = random.Random(SEED)
    stage = Stage.of(tmp_path)
    monkeypatch.chdir(stage.folder)
    monkeypatch.setattr("tempfile.tempdir", str(stage.temporary))
    arguments = COMMANDS[name]
    if name == "verify":
        assert called(stage, capfd, None, COMMANDS["memory"])[0] == 0
    assert called(stage, capfd, None, arguments)[0] == 0
    clean = stage.names()
    whole = Caller()
    (stage.folder / "ledger.json").unlink(missing_ok=True)
    assert called(stage, capfd, whole, arguments)[0] == 0
    signals = cycle(POLITE)
    for _ in range(max(1, KILLS // 2 // len(COMMANDS))):
        number, moment = next(signals), chance.randrange(whole.calls)
        (stage.folder / "ledger.json").unlink(missing_ok=True)
        old = digest(stage.folder / ("out.parquet" if name == "parquet" else "out.csv"))
        code, said = called(stage, capfd, Caller(number, moment), arguments)
        try:
            judge(stage, name, old, number, code, said)
            assert stage.names() - {"ledger.json"} == clean - {"ledger.json"}
        except AssertionError as error:
            raise AssertionError(f"{name}, {number.name} at call {moment:,}, seed {SEED}: {error}") from error
