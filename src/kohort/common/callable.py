"""Packages that have the name of a public function: Python sets a package as an attribute of the one above it."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that answers a call as the public function of its name does."""

    def __call__(self) -> Any:
        return self.__wrapped__()

    @property
    def __wrapped__(self) -> Any:
        """The function; it is looked for when it is called, for it stands in a layer above the package."""
        return getattr(importlib.import_module(self.__dict__["_home"]), self.__name__.rpartition(".")[2])


def make_callable(package: str, home: str) -> None:
    """Let a package be called as the function of its name.

    Parameters
    ----------
    package : str
        Name of the package, which has been imported.
    home : str
        Name of the module that has the function.
    """
    module = sys.modules[package]
    module.__dict__["_home"] = home
    module.__class__ = _Callable
