"""Minimality: a class that is larger than k needs says that a smaller one would have broken the promise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.codes.encode import Axis, LineAxis
from kohort.privacy import Histogram, SensitiveModel, models_of
from kohort.reports.attacks.base import ATTACKS, Adversary
from kohort.reports.attacks.result import Attack, Mitigation, NotRun
from kohort.reports.attacks.scene import Crowd, Ints, Scene, Sensitive
from kohort.reports.estimate import Estimate
from kohort.reports.published import Published
from kohort.reports.words import percent

_DRAWS = 400
"""Ways to deal the values of a class to its members that are looked at."""
_CUTS = 16
"""Cuts of a column that are looked at."""
_LARGEST = 20
"""Larger classes, in multiples of k, say too little about anybody."""


@dataclass(frozen=True)
class Member:
    """A class whose members are known."""

    places: NDArray[np.float64]
    """Where each stands in every column, 0 to 1."""
    values: Ints
    """The number of each one's value."""


@dataclass(frozen=True)
class Guesses:
    """How many members a guess is right about: with the reason why the class is so large, and without."""

    right: int = 0
    plain: int = 0
    members: int = 0
    classes: int = 0


@dataclass(frozen=True)
class Attempt:
    """What is known: the column, the promises about it, and k."""

    column: Sensitive
    models: tuple[SensitiveModel, ...]
    k: int

    def guess(self, one: Member, rng: np.random.Generator) -> Guesses:
        """Guess the value of each member from the side of the cut that it is on."""
        size = len(one.values)
        common = np.bincount(one.values).argmax()
        plain = int((one.values == common).sum())
        side = _cut(one.places, self.k)
        if side is None:
            return Guesses(plain, plain, size, 1)
        dealt = np.array([rng.permutation(one.values) for _ in range(_DRAWS)])
        broken = dealt[self._breaks(dealt, side)]
        if not len(broken):
            return Guesses(plain, plain, size, 1)
        right = 0
        for here in (side, ~side):
            likely = np.bincount(broken[:, here].ravel()).argmax()
            right += int((one.values[here] == likely).sum())
        return Guesses(right, plain, size, 1)

    def _breaks(self, dealt: Ints, side: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """In which ways to deal the values a side of the cut breaks a promise."""
        labels = 2 * np.arange(len(dealt))[:, None] + side
        classes = Histogram.of(labels.ravel(), dealt.ravel())
        kept = np.logical_and.reduce([model.keeps(classes, self.column.reference) for model in self.models])
        found: NDArray[np.bool_] = ~kept.reshape(-1, 2).all(axis=1)
        return found


@ATTACKS.register("minimality")
@dataclass(frozen=True)
class Minimality(Adversary):
    """Ask why a class has 2k records or more, and believe that the two halves of it would have broken a promise.

    The outsider knows the algorithm, all quasi-identifiers, and that classes are cut where they can be. Of all ways to
    deal the sensitive values of a class to its members, those are left in which a side of the best cut breaks a promise
    about the column; on each side the value is guessed that is then most frequent. The control guesses the most
    frequent value of the class.

    Notes
    -----
    Only classes are attacked that cover no more records of the original than they have rows: then the members are
    known. Time O(w * s) for each class of s records and w = 400 ways that are drawn.
    """

    summary = "sensitive values that follow from why a class is larger than k"
    paper = "Wong, Fu, Wang and Pei, VLDB 2007"
    needs = ("sensitive", "original", "classes")

    @override
    def attack(self, scene: Scene) -> Iterator[Attack | NotRun]:
        models = [one for one in models_of(scene.release.policy)[1:] if isinstance(one, SensitiveModel)]
        for column in scene.sensitive:
            about = tuple(one for one in models if one.columns == (column.name,))
            if not about:
                reason = "the policy promises nothing about it, so that the size of a class says nothing."
                yield NotRun(self.name, reason, column.name)
            else:
                yield self._attack(scene, Attempt(column, about, scene.release.policy.privacy.k))

    def _attack(self, scene: Scene, attempt: Attempt) -> Attack | NotRun:
        name, rng = attempt.column.name, scene.rng(self.name)
        release = scene.beside_original
        large = np.flatnonzero((release.sizes >= 2 * attempt.k) & (release.sizes <= _LARGEST * attempt.k))
        large = np.intersect1d(large, release.labels[release.kept])
        drawn = large[scene.sample(len(large), rng)]
        total = Guesses()
        for one in _members(release, attempt.column, drawn):
            found = attempt.guess(one, rng)
            total = Guesses(*(getattr(total, what) + getattr(found, what) for what in vars(total)))
        if not total.members:
            reason = f"no class of 2 k = {2 * attempt.k} records or more has members that are known."
            return NotRun(self.name, reason, name)
        success = Estimate.of_share(total.right, total.members)
        control = Estimate.of_share(total.plain, total.members)
        return Attack(
            name=self.name,
            about=name,
            private=True,
            success=success,
            control=control,
            against="guessing the most frequent value of the class",
            attempts=total.members,
            of=int(release.sizes[large].sum()),
            sentence=(
                f"In classes of 2 k records or more, whoever asks why they are so large guesses the {name!r} right for "
                f"{percent(success.value)} of the people; the most frequent value of the class is right for "
                f"{percent(control.value)}."
            ),
            mitigation=Mitigation(
                "Cluster into classes that are large enough from the start, so that few are merged for the promise.",
                f"[privacy]\nk = {2 * attempt.k}",
            ),
            figures={"classes": total.classes, "of_classes": len(large)},
        )


def _members(release: Published, column: Sensitive, groups: Ints) -> Iterator[Member]:
    """Classes with their members, where the records of the original that a class covers are as many as its rows."""
    assert release.original is not None
    ours, theirs = release.values_of_both(column.name)
    number = np.full(int(max(ours.max(), theirs.max())) + 1, -1, np.int64)
    number[ours[release.kept]] = column.values
    values = number[theirs]
    crowd = Crowd.of(release.original)
    for group in groups.tolist():
        some = crowd.inside(release.boxes.lo[group], release.boxes.hi[group])
        if len(some) == release.sizes[group] and (values[some] >= 0).all():
            yield Member(_places(release.axes, release.original.codes.array[some]), values[some])


def _places(axes: tuple[Axis, ...], codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Where records stand in every column; a missing value stands at the end."""
    columns = [
        np.append(axis.positions, 1.0)[codes[:, place]]
        if isinstance(axis, LineAxis)
        else codes[:, place] / max(axis.size - 1, 1)
        for place, axis in enumerate(axes)
    ]
    return np.column_stack(columns)


def _cut(known: NDArray[np.float64], k: int) -> NDArray[np.bool_] | None:
    """The members on one side of the cut after which both sides, of k or more, are narrowest; None if there is none."""
    best: tuple[float, NDArray[np.bool_]] | None = None
    spread = np.ptp(known, axis=0)
    spread[spread == 0] = 1.0
    for axis in range(known.shape[1]):
        places = np.unique(np.sort(known[:, axis])[k - 1 : len(known) - k])
        for place in places[:: -(-len(places) // _CUTS)]:
            side = known[:, axis] <= place
            if not k <= side.sum() <= len(known) - k:
                continue
            cost = sum(float((np.ptp(known[here], axis=0) / spread).sum()) * int(here.sum()) for here in (side, ~side))
            if best is None or cost < best[0]:
                best = cost, side
    return None if best is None else best[1]
