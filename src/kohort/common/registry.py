"""Things that are found by name: measures, algorithms, privacy models.

A registry is filled by the modules of its own folder, so adding one means adding a file, and touching no other. Who
asks for `two-level` need not wait until all others are imported, too: it is looked for in `two_level.py`, and
`k-member` in `kmember.py`.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Generic, TypeVar

from kohort.errors import PolicyError

T = TypeVar("T")


def closest(name: str, known: Sequence[str]) -> str:
    """Point at the nearest known name, if one is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


class Registry(Mapping[str, type[T]], Generic[T]):
    """Classes by name; each is a dataclass whose fields are its parameters."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._classes: dict[str, type[T]] = {}
        self._modules: dict[str, str] = {}
        """Modules that are not yet imported, by the name that each registers."""

    def fill_from(self, package: str, path: Iterable[str]) -> None:
        """Let the modules of a folder register what they have as soon as somebody asks for it."""
        names = [module.name for module in pkgutil.iter_modules(path) if not module.ispkg]
        self._modules |= {_plain(name): f"{package}.{name}" for name in names}

    def _load(self, *plain: str) -> None:
        """Import modules, so that each can register what it has; what cannot be imported stays to be."""
        for name in plain:
            importlib.import_module(self._modules[name])
            self._modules.pop(name, None)

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Make a class known by name."""

        def add(cls: type[T]) -> type[T]:
            if name in self._classes:
                raise ValueError(f"{self.what} {name!r} is registered twice")
            cls.name = name  # type: ignore[attr-defined]
            self._classes[name] = cls
            return cls

        return add

    def make(self, name: str, parameters: Mapping[str, Any]) -> T:
        """Build the one of that name.

        Raises
        ------
        PolicyError
            When there is none, or it has no such parameter, needs another, or refuses a value.
        """
        if name not in self:
            raise PolicyError(
                f"there is no {self.what} {name!r}{closest(name, list(self))}; there are {', '.join(self)}."
            )
        cls = self[name]
        known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        has = f"it has {', '.join(known)}" if known else "it has none"
        faults = [
            f"{self.what} {name!r} has no parameter {key!r}{closest(key, known)}; {has}."
            for key in parameters
            if key not in known
        ]
        faults += [
            f"{self.what} {name!r} needs {field.name!r}; {has}."
            for field in fields(cls)  # type: ignore[arg-type]
            if field.name not in parameters and field.default is MISSING and field.default_factory is MISSING
        ]
        PolicyError.refuse(faults)
        try:
            return cls(**parameters)
        except (ValueError, TypeError) as error:
            raise PolicyError(f"{self.what} {name!r}: {error}.") from None

    def __getitem__(self, name: str) -> type[T]:
        if name not in self._classes and _plain(name) in self._modules:
            self._load(_plain(name))
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        self._load(*self._modules)
        return iter(sorted(self._classes))

    def __len__(self) -> int:
        self._load(*self._modules)
        return len(self._classes)


def _plain(name: str) -> str:
    """What a name and that of its module have in common: `k-member`, `kmember`."""
    return name.replace("-", "").replace("_", "")
