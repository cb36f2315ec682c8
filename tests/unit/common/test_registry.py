"""What is found by name is looked for in the file of that name, and nothing else is imported for it."""

import subprocess
import sys
from importlib import import_module

import pytest

from kohort.cli.main import COMMANDS, modules_of
from kohort.cli.shared import app

REGISTRIES = {
    "algorithms": "ALGORITHMS",
    "measures": "MEASURES",
    "measures.figures": "FIGURES",
    "privacy": "MODELS",
    "reports.attacks": "ATTACKS",
    "reports.charts": "CHARTS",
    "reports.report.sections": "SECTIONS",
    "reports.reproduce": "PAPERS",
    "reports.risk.uniqueness": "ESTIMATORS",
    "table.databases": "DATABASES",
    "table.formats": "FORMATS",
}


@pytest.mark.parametrize("package", REGISTRIES)
def test_a_name_is_registered_by_the_file_of_that_name(package):
    registry = getattr(import_module(f"kohort.{package}"), REGISTRIES[package])
    assert registry
    for name, cls in registry.items():
        if cls.__module__.startswith("kohort."):
            assert cls.__module__.rpartition(".")[2].replace("_", "") == name.replace("-", "")


def test_one_algorithm_does_not_load_the_others():
    code = """
import sys
from kohort.algorithms import ALGORITHMS
assert ALGORITHMS["two-level"].name == "two-level" and "twolevel" not in ALGORITHMS and "base" not in ALGORITHMS
loaded = {"fast", "two_level"} & {name.rpartition(".")[2] for name in sys.modules}
assert loaded == {"two_level"}, loaded
assert "fast" in list(ALGORITHMS) and len(ALGORITHMS) > 20
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_command_is_in_the_modules_that_are_loaded_for_it():
    for name in COMMANDS:
        import_module(f"kohort.cli.{name}")
    single = [(one.name or one.callback.__name__, one.callback) for one in app.registered_commands]
    several = [
        (group.name, one.callback)
        for group in app.registered_groups
        for one in group.typer_instance.registered_commands
    ]
    assert len(single) > 15
    assert len(several) > 5
    for name, callback in single + several:
        assert callback.__module__.rpartition(".")[2] in modules_of([name]), name
    assert modules_of([]) == modules_of(["--help"]) == modules_of(["no such"]) == COMMANDS
