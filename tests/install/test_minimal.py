"""The core dependencies are enough: no pandas, pyarrow or pyspark is needed; and every lower limit is one."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


MODULES = {"python-stdnum": "stdnum", "scikit-learn": "sklearn", "vl-convert-python": "vl_convert"}
"""Packages whose modules have another name."""


def packages(requirements):
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in requirements} - {"kohort"}
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


CORE = packages(PROJECT["dependencies"])
EXTRAS = PROJECT["optional-dependencies"]
OPTIONAL = packages([one for name, extra in EXTRAS.items() if name != "dev" for one in extra])
BLOCKED = "import sys; sys.modules.update(dict.fromkeys({names})); from kohort.cli.main import run; run()"
"""A module that is None is not there: neither to be imported nor to be found."""


def kohort_without(names, *arguments, folder):
    """Run the command line as if some packages were not installed."""
    start = [sys.executable, "-c", BLOCKED.format(names=sorted(names))]
    return subprocess.run([*start, *map(str, arguments)], cwd=folder, capture_output=True, text=True)


def imported():
    """Top names of all modules that the package imports."""
    for path in (ROOT / "src" / "kohort").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module.split(".")[0]


def test_every_import_is_declared_and_every_dependency_imported():
    used = set(imported()) - sys.stdlib_module_names - {"kohort"}
    assert used <= CORE | OPTIONAL | {"py4j"}, "py4j comes with pyspark"
    assert used >= CORE
    assert {"pandas", "pyarrow", "pyspark"} <= OPTIONAL
    assert not OPTIONAL & CORE


def test_every_dependency_has_a_lower_limit_which_make_lowest_installs():
    for several in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        assert all(re.search(r">=\d", one) or one.startswith("kohort[") for one in several)


@pytest.mark.slow
def test_the_core_alone_makes_a_release(tmp_path):
    done = kohort_without(OPTIONAL, "demo", "--rows", 300, "--folder", "there", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    folder = tmp_path / "there"
    request = ["anonymize", "patients.csv", "-p", "policy.toml", "-o", "out.csv", "--quiet"]
    done = kohort_without(OPTIONAL, *request, "--memory", "1GB", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    verified = kohort_without(
        OPTIONAL, "verify", "out.csv", "-p", "policy.toml", "--original", "patients.csv", folder=folder
    )
    assert verified.returncode == 0, verified.stdout
    request[request.index("out.csv")] = "another.csv"
    done = kohort_without(OPTIONAL, *request, "--engine", "spark", folder=folder)
    assert done.returncode == 2
    assert "kohort[spark]" in done.stderr
