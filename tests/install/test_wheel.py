"""The wheel: one for all systems, whole, and a command without its script."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built without the network: what builds it is among the tools of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [path] = folder.glob("*.whl")
    return path


def test_it_is_pure_python_and_whole(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        [facts] = [packed.read(name).decode() for name in names if name.endswith(".dist-info/WHEEL")]
    assert "Root-Is-Purelib: true" in facts
    assert not [name for name in names if name.endswith((".so", ".pyd", ".dll", ".dylib", ".pyc"))]
    there = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "kohort").rglob("*") if path.is_file()}
    missing = {name for name in there if "__pycache__" not in name} - set(names)
    assert not missing


@pytest.mark.slow
def test_it_is_a_command_without_its_script(wheel, tmp_path):
    """Installed apart from this checkout; its libraries are those of the tests."""
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel]
    subprocess.run(install, check=True, capture_output=True)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "kohort", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(site), "PATH": ""},
        )

    assert "Usage: " in run("--help").stdout
    done = run("demo", "--rows", "200", "--k", "3", "--folder", "there")
    assert done.returncode == 0, done.stderr
    # The last line is a command that works as it is printed.
    program, *arguments = done.stdout.splitlines()[-1].split()
    assert (program, arguments[:3]) == (Path(sys.executable).name, ["-m", "kohort", "verify"])
    assert run(*arguments[2:]).returncode == 0
    assert run("verify", "there/nothing.csv").returncode == 2
