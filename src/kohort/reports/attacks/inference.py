"""Attribute inference: a model learns from the release what a person's sensitive value may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from typing_extensions import override

from kohort.errors import DataError, PolicyError
from kohort.reports.attacks.base import ATTACKS, Adversary
from kohort.reports.attacks.result import Attack, Mitigation, NotRun
from kohort.reports.attacks.scene import Scene
from kohort.reports.attacks.words import with_model
from kohort.reports.estimate import Estimate
from kohort.reports.learning import (
    OTHERS,
    Target,
    features,
    predicted,
    refuse_without_sklearn,
    split,
    target_of,
)
from kohort.reports.published import Published
from kohort.reports.ranges import Floats
from kohort.reports.words import percent

MOST = 20_000
"""Rows to learn from."""


@ATTACKS.register("inference")
@dataclass(frozen=True)
class Inference(Adversary):
    """Train a model on the release, and let it guess the sensitive values of people whose records it has not seen.

    So what is measured is what the release teaches about people of whom nothing but the quasi-identifiers is known.
    Its control is the base rate: the guess that is right most often for whoever knows no person. A number counts as
    guessed if it is near enough. How much better the model guesses people who are in what it learned from, is one of
    the figures: that is what it costs to be in the table.

    Notes
    -----
    A forest, on up to 20,000 rows; see `kohort.reports.learning` for how intervals and
    nodes of hierarchies are encoded, and how records are held out.
    """

    near: float = 0.05
    """How near a number must be guessed, as a share of the range of the column."""

    summary = "sensitive values that a model guesses which was trained on the release"
    paper = "Fung, Wang, Chen and Yu, ACM CSUR 2010; Giomi and others, PETS 2023, for the control"
    needs = ("sensitive", "original")

    @override
    def lacks(self, scene: Scene) -> str | None:
        try:
            refuse_without_sklearn()
        except DataError as error:
            return error.faults[0]
        return super().lacks(scene)

    @override
    def attack(self, scene: Scene) -> Iterator[Attack | NotRun]:
        release = scene.beside_original
        for column in scene.sensitive:
            try:
                target = _frequent(target_of(release, column.name, scene.rng(self.name), join=True))
            except PolicyError as error:
                yield NotRun(self.name, error.faults[0], column.name)
            else:
                yield self._attack(scene, release, target)

    def _attack(self, scene: Scene, release: Published, target: Target) -> Attack | NotRun:
        rng = scene.rng(self.name)
        held = split(release, rng, most=MOST)
        tested = held.tested[~np.isnan(target.original[held.tested])][: scene.attempts]
        # of a sample of the rows, nobody says whose they are
        members = held.records[: len(tested)] if len(held.rows) < MOST else held.records[:0]
        rows = held.rows[~np.isnan(target.release[held.rows])]
        if not len(tested) or not len(rows):
            return NotRun(self.name, "too few records have a value to learn from and to be tested by.", target.column)
        space = features(release, release.policy.quasi_identifiers)
        asked = np.concatenate([tested, members])
        guesses = predicted(space, target, held.rows, "release", asked, int(rng.integers(1 << 31)))
        truth = target.original[asked]
        right = self._right(target, truth, guesses)
        base = self._right(target, truth, np.full(len(asked), _base(target, target.release[rows])))
        success = Estimate.of_share(int(right[: len(tested)].sum()), len(tested))
        control = Estimate.of_share(int(base[: len(tested)].sum()), len(tested))
        figures: dict[str, float] = {"learned_from": len(held.rows), "features": space.width}
        if len(members):
            figures["success_on_people_in_it"] = float(np.mean(right[len(tested) :]))
        name = target.column
        what = f"the {name!r}" if target.task == "category" else f"nearly the {name!r}"
        return Attack(
            name=self.name,
            about=name,
            private=True,
            success=success,
            control=control,
            against="the guess that is right most often for whoever knows nobody",
            attempts=len(tested),
            of=release.records,
            sentence=(
                f"A model that learned from the release guesses {what} of people whose records it has not seen right "
                f"for {percent(success.value)}; the same guess for everybody is right for {percent(control.value)}."
            ),
            mitigation=Mitigation(
                f"Promise that the values of {name!r} in every class are distributed much as in the table; what the "
                "release teaches about people in general, research will lose, too.",
                with_model(release.policy, model="t-closeness", column=name, t=0.2),
            ),
            figures=figures,
        )

    def _right(self, target: Target, truth: Floats, guesses: Floats) -> np.ndarray:
        """Which guesses count as right."""
        reach = 0.0
        if target.task == "number":
            reach = self.near * float(np.nanmax(target.release) - np.nanmin(target.release))
        found: np.ndarray = np.abs(truth - guesses) <= reach
        return found


def _frequent(target: Target) -> Target:
    """The same without the rarer ones of many categories: they are not learned, and never guessed."""
    return replace(target, release=np.where(target.release == OTHERS, np.nan, target.release))


def _base(target: Target, known: Floats) -> float:
    """The best guess about somebody of whom nothing is known."""
    if target.task == "number":
        return float(np.median(known))
    values, counts = np.unique(known, return_counts=True)
    return float(values[counts.argmax()])
