"""The examples in docstrings work."""

import doctest
import importlib
import pkgutil

import pytest

import kohort

MODULES = sorted(module.name for module in pkgutil.walk_packages(kohort.__path__, "kohort."))


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize(
    "name", ["kohort.release.run", "kohort.policy.model", "kohort.hierarchy.taxonomy", "kohort.datasets.hospital"]
)
def test_the_main_modules_have_examples(name):
    assert doctest.testmod(importlib.import_module(name)).attempted > 0
