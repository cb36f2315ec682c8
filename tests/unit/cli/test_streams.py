"""What is printed never decides how finished work ends."""

import io
import json
import subprocess
import sys

import pytest

from kohort.cli.main import run

CODE = "from kohort.cli.main import main; main()"
NAMES = ["[/]", "[bold red]x[/bold red]", ":smile:", "\x1b]0;x\x07", "schön█"]
POLICY = """
[privacy]
k = 2
[algorithm]
seed = 1
bound_effort = 0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table whose columns are named like markup, emoji, commands to terminals and letters that encodings lack."""
    folder = tmp_path_factory.mktemp("names")
    columns = "".join(f'[columns.{json.dumps(name)}]\nrole = "quasi"\ntype = "integer"\n' for name in NAMES)
    (folder / "policy.toml").write_text(f'{POLICY}{columns}[columns.ill]\nrole = "sensitive"\n', encoding="utf-8")
    rows = "".join(f"{'1,' * len(NAMES)}{ill}\n" for ill in "abcd")
    (folder / "in.csv").write_text(",".join(NAMES) + f",ill\n{rows}", encoding="utf-8")
    return folder


RELEASE = ("anonymize", "in.csv", "-p", "policy.toml", "-o", "out.csv", "--force", "--explain")


class Broken(io.StringIO):
    """A stream on a full disk, or one whose encoding lacks letters."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    @property
    def encoding(self):
        return "ascii"

    def write(self, text):
        if isinstance(self.error, OSError | ValueError):
            raise self.error
        text.encode("ascii")
        return super().write(text)


def run_with(monkeypatch, folder, out, *arguments):
    """Run the command line in this process, with a stream of ours for stdout."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["kohort", *arguments])
    monkeypatch.setattr("sys.stdout", out)
    with pytest.raises(SystemExit) as end:
        run()
    return end.value.code


@pytest.mark.slow
def test_names_are_printed_as_they_are(folder, monkeypatch):
    out = io.StringIO()
    assert run_with(monkeypatch, folder, out, *RELEASE) == 0
    for name in ("[/]", "[bold red]x[/bold red]", ":smile:"):
        assert name in out.getvalue()
    assert run_with(monkeypatch, folder, out, "verify", "out.csv", "-p", "policy.toml", "--original", "in.csv") == 0
    assert run_with(monkeypatch, folder, out, "measure", "out.csv", "-p", "policy.toml", "--original", "in.csv") == 0
    assert run_with(monkeypatch, folder, out, "why", "in.csv", "-p", "policy.toml") == 0
    compare = ("compare", "in.csv", "-p", "policy.toml", "--algorithms", "fast,anatomy")
    assert run_with(monkeypatch, folder, out, *compare) == 0


def test_an_encoding_that_lacks_letters(folder, monkeypatch):
    out = Broken(None)
    assert run_with(monkeypatch, folder, out, *RELEASE) == 0
    assert "written to out.csv" in out.getvalue()
    assert "sch?n?" in out.getvalue()


FAULTS = [OSError(28, "No space left on device"), BrokenPipeError(32, "Broken pipe"), ValueError("closed")]


@pytest.mark.parametrize("error", FAULTS, ids=["full", "pipe", "closed"])
def test_streams_that_cannot_be_written(folder, monkeypatch, capsys, error):
    (folder / "out.csv").unlink(missing_ok=True)
    assert run_with(monkeypatch, folder, Broken(error), *RELEASE) == 0
    assert (folder / "out.csv").exists()
    for k, code in (("2", 0), ("5", 1)):
        verify = ("verify", "out.csv", "-p", "policy.toml", "--k", k)
        assert run_with(monkeypatch, folder, Broken(error), *verify) == code
    warning = f"warning: not all could be printed ({getattr(error, 'strerror', 'the stream is closed')}).\n"
    assert capsys.readouterr().err == ("" if isinstance(error, BrokenPipeError) else 3 * warning)


@pytest.mark.slow
@pytest.mark.parametrize("redirect", [">/dev/full", "<&- >&- 2>&-", "| true; exit ${PIPESTATUS[0]}"])
def test_streams_that_the_shell_gives(folder, redirect):
    """As a process: what the interpreter writes at its very end fails, too."""
    done = subprocess.run(
        ["bash", "-c", f'"$0" -c "$1" "${{@:2}}" {redirect}', sys.executable, CODE, *RELEASE],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr in (b"", b"warning: not all could be printed (No space left on device).\n")


def test_a_message_is_one_line_whatever_a_file_is_called(folder, monkeypatch, capsys):
    name = "no\nsuch\x1b.csv"
    assert run_with(monkeypatch, folder, io.StringIO(), "anonymize", name, "-p", "policy.toml", "-o", "o.csv") == 2
    fault = "error: no\\nsuch\\x1b.csv: cannot be read (No such file or directory); check the path.\n"
    said = fault + "see docs/errors.md#data\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["nothing-like-it"], 2)])
def test_the_command_ends_at_once_with_all_said_and_done(arguments, code):
    """Without taking libraries apart; what others have registered for the end is done."""
    ends = "import atexit; atexit.register(print, 'the end'); from kohort.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", ends, *arguments], capture_output=True, text=True)
    assert done.returncode == code
    assert done.stdout.splitlines()[-1] == "the end"
    assert ("error: " in done.stderr) == (code == 2)


def test_the_command_waits_for_threads():
    """One that still works when the command ends is not cut off."""
    ends = (
        "import threading, time; from kohort.cli.main import main\n"
        "def work(): time.sleep(0.5); print('worked')\n"
        "threading.Thread(target=work).start(); main()"
    )
    done = subprocess.run([sys.executable, "-c", ends, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "worked")
