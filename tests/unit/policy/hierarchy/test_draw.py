"""The drawing, and the package as a whole."""

import doctest
import importlib
import io
import pkgutil
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

import kohort.policy.hierarchy
from kohort.policy.hierarchy import Taxonomy, draw, intervals

MODULES = sorted(module.name for module in pkgutil.iter_modules(kohort.policy.hierarchy.__path__))


def printed(tree):
    console = Console(file=io.StringIO(), width=60, color_system=None)
    console.print(tree)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_labels_in_brackets_are_no_markup():
    ages = intervals(np.array([20, 24, 26]), width=5, levels=(1,), integers=True, column="age")
    assert printed(draw(ages)) == [
        "*  3 leaves",
        "├── [20 - 24]  2 leaves",
        "│   ├── 20",
        "│   └── 24",
        "└── [25 - 29]  1 leaf",
        "    └── 26",
    ]


def test_long_lists_are_cut_and_counted():
    tree = draw(Taxonomy.flat([str(number) for number in range(43)], "c"))
    lines = printed(tree)
    assert len(lines) == 1 + 12 + 1
    assert lines[-2:] == ["├── 11", "└── … and 31 more"]
    assert len(printed(draw(Taxonomy.flat(list("abc"), "c"), max_children=3))) == 4


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    outcome = doctest.testmod(importlib.import_module(f"kohort.policy.hierarchy.{name}"))
    assert outcome.failed == 0


def test_there_are_examples_to_run():
    with_examples = {"builders", "draw", "items", "nested", "ranges", "readers", "suggest", "taxonomy"}
    found = set()
    for name in MODULES:
        if doctest.testmod(importlib.import_module(f"kohort.policy.hierarchy.{name}")).attempted:
            found.add(name)
    assert found == with_examples


def test_importing_loads_nothing_heavy():
    heavy = {"numba", "polars", "rich", "pandas"}
    code = f"import sys, kohort.policy.hierarchy; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_public_names_exist_and_are_documented():
    assert kohort.policy.hierarchy.__all__ == sorted(kohort.policy.hierarchy.__all__)
    for name in kohort.policy.hierarchy.__all__:
        assert getattr(kohort.policy.hierarchy, name).__doc__
