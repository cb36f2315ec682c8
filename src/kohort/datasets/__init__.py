"""Tables to try kohort on: a hospital that does not exist, and the data of the papers.

Importing this package loads neither numpy nor polars; the first use of a name does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kohort.datasets._sources import data_directory
    from kohort.datasets.hospital import patients, patients_hierarchies
    from kohort.datasets.papers import adult, adult_hierarchies, adult_hierarchy, adult_uci, census_income

__all__ = [
    "adult",
    "adult_hierarchies",
    "adult_hierarchy",
    "adult_uci",
    "census_income",
    "data_directory",
    "patients",
    "patients_hierarchies",
]

_HOMES = {"data_directory": "_sources", "patients": "hospital", "patients_hierarchies": "hospital"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'papers')}"), name)


def __dir__() -> list[str]:
    return __all__
