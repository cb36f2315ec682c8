"""Attacks on classes: everybody sees the sensitive values of each, and all records are counted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from kohort.policy import Policy
from kohort.privacy import Histogram
from kohort.reports.attacks.base import Adversary
from kohort.reports.attacks.result import Attack, Mitigation, NotRun
from kohort.reports.attacks.scene import SHUFFLES, Ints, Scene, Sensitive
from kohort.reports.estimate import Estimate
from kohort.reports.words import percent


@dataclass(frozen=True)
class Said:
    """What is said of a success."""

    sentence: str
    mitigation: Mitigation
    figures: Mapping[str, Any] = field(default_factory=dict)


class OnClasses(Adversary):
    """An attack that succeeds for a share of the records of the classes, whoever they are.

    Its control are tables with the same classes, whose sensitive values are shuffled. If classes and values have
    nothing to do with each other, the table is one of many alike: that it is above all others then has a chance of
    2.5 %, an exact test, whatever the share is.
    """

    needs = ("sensitive", "classes")
    certain: ClassVar[bool] = False
    """Whether a success is certain knowledge."""

    def refuses(self, column: Sensitive) -> str | None:
        """Why it makes no sense for a column; None if it does."""
        return None

    @abstractmethod
    def hit(self, column: Sensitive, classes: Histogram) -> Ints:
        """Number of the records of each class for which it succeeds."""

    @abstractmethod
    def said(self, column: Sensitive, policy: Policy, shares: str) -> Said:
        """What that means; `shares` are success and control in words."""

    @override
    def attack(self, scene: Scene) -> Iterator[Attack | NotRun]:
        for column in scene.sensitive:
            reason = self.refuses(column)
            yield self._attack(scene, column) if reason is None else NotRun(self.name, reason, column.name)

    def _attack(self, scene: Scene, column: Sensitive) -> Attack:
        records = len(column.values)
        hits = int(self.hit(column, column.histogram).sum())
        shuffled = [int(self.hit(column, one).sum()) for one in column.shuffled(scene.rng(self.name))]
        success = Estimate.exactly(hits / records)
        control = Estimate(
            float(np.mean(shuffled)) / records, min(shuffled) / records, max(shuffled) / records, 1 - 2 / (SHUFFLES + 1)
        )
        shares = f"{percent(success.value)} of the people (by chance alone: {percent(control.value)})"
        said = self.said(column, scene.release.policy, shares)
        return Attack(
            name=self.name,
            about=column.name,
            private=False,
            success=success,
            control=control,
            against="the same classes, with the sensitive values dealt at random",
            attempts=records,
            of=records,
            sentence=said.sentence,
            mitigation=said.mitigation,
            certain=hits if self.certain else 0,
            figures=said.figures,
        )
