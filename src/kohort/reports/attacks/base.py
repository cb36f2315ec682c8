"""What an attack is: what it needs, and what comes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from kohort.common.registry import Registry
from kohort.reports.attacks.result import Attack, NotRun
from kohort.reports.attacks.scene import Scene

Need = Literal["sensitive", "original", "people", "earlier", "tables", "classes"]

_LACKING: dict[Need, str] = {
    "sensitive": "it is after a sensitive column, and the file has none that the policy names; name one",
    "original": "it needs the original table; give it with --original",
    "people": "it needs people to look for; give the original, or a table that an outsider may have, with --auxiliary",
    "earlier": "it needs another release about the same people; give it with --against",
    "classes": "it looks at classes of rows that are alike, and by the policy each row may differ (matchings)",
    "tables": "it joins several tables of one release, and this is a single one",
}


@dataclass(frozen=True)
class Adversary(ABC):
    """Somebody who tries to learn from a release what it hides. The fields of the dataclass are its parameters."""

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    """What it cannot do without."""
    joins: ClassVar[bool] = False
    """Whether it uses all tables of a release at once, and not one after the other."""

    def lacks(self, scene: Scene) -> str | None:
        """Why it cannot be tried; None if it can."""
        there = {
            "sensitive": bool(scene.sensitive),
            "original": scene.original is not None,
            "people": scene.people is not None,
            "earlier": bool(scene.earlier),
            "tables": len(scene.tables) > 1,
            "classes": scene.release.policy.privacy.anonymity == "classes",
        }
        return next((f"{_LACKING[need]}." for need in self.needs if not there[need]), None)

    @abstractmethod
    def attack(self, scene: Scene) -> Iterator[Attack | NotRun]:
        """Try it: on every sensitive column, if it is after these."""


ATTACKS: Registry[Adversary] = Registry("attack")
