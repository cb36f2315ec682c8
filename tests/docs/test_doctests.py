"""The examples in docstrings work."""

import doctest
import importlib
import pkgutil

import pytest

import kohort

MODULES = sorted(module.name for module in pkgutil.walk_packages(kohort.__path__, "kohort."))


MAIN = {"kohort.release.run", "kohort.policy.model", "kohort.policy.hierarchy.taxonomy", "kohort.datasets.hospital"}
"""Modules that must have examples."""


def test_the_main_modules_are_there():
    assert set(MODULES) >= MAIN


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted > 0 or name not in MAIN
