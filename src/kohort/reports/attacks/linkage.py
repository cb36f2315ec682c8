"""Linkage: an outsider who has a table of people looks for the rows that fit each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from kohort.audit.words import count
from kohort.reports.attacks.base import ATTACKS, Adversary
from kohort.reports.attacks.result import Attack, Mitigation, NotRun
from kohort.reports.attacks.scene import Ints, Scene, Sight, sight
from kohort.reports.estimate import Estimate
from kohort.reports.words import percent


@ATTACKS.register("linkage")
@dataclass(frozen=True)
class Linkage(Adversary):
    """Look for people by what a second table says of them, and count the rows that each fits.

    The second table is that of an outsider, or else the original with all its quasi-identifiers: nobody can know more
    of these. The control are people who do not exist: each value is that of somebody, drawn column by column. Where
    such people fit a single row as often as real ones, a single row says little.

    Notes
    -----
    Rows of nothing but `*` that stand for suppressed records are left out: an outsider would. Time O(a * c) for a
    people and c different classes.
    """

    summary = "people of a second table who fit a single row"
    paper = "Sweeney, IJUFKS 2002; Dalenius and Reiss, 1982, for the control"
    needs = ("people",)

    @override
    def attack(self, scene: Scene) -> Iterator[Attack | NotRun]:
        assert scene.people is not None
        outside = scene.auxiliary is not None
        seen = sight(scene.release, scene.people, as_is=outside, lenient=outside)
        if seen is None:
            yield NotRun(self.name, "the table of people has no quasi-identifier of this table.")
            return
        rng = scene.rng(self.name)
        drawn = scene.sample(len(seen.people), rng)
        found = seen.candidates(seen.people[drawn])
        if not found.any():
            yield NotRun(self.name, f"none of {count(len(found), 'person', 'people')} fits any row; run verify.")
            return
        strangers = seen.candidates(_strangers(seen, scene.attempts, rng))
        yield self._result(scene, seen, found, strangers)

    def _result(self, scene: Scene, seen: Sight, found: Ints, strangers: Ints) -> Attack:
        alone = int((found == 1).sum())
        success = Estimate.of_share(alone, len(found))
        # a single row is somebody else's only for people who are not in the table at all
        absent = len(found) if scene.auxiliary is not None else len(seen.people) - len(seen.group)
        there = found[found > 0]
        right = float((1 / there).sum() / len(found))
        none = float(np.mean(found == 0))
        k = scene.release.policy.privacy.k
        knows = "that table" if scene.auxiliary is not None else "all quasi-identifiers of everybody"
        fewest = f"at least {count(int(there.min()), 'row')}" + (f" ({percent(none)} fit none)" if none else "")
        return Attack(
            name=self.name,
            about=None,
            private=True,
            success=success,
            control=Estimate.of_share(int((strangers == 1).sum()), len(strangers)),
            against="people who do not exist, made of the values of those who do",
            attempts=len(found),
            of=len(seen.people),
            sentence=(
                f"Whoever knows {knows} and looks for the rows that fit a person finds exactly one for "
                f"{percent(success.value)} of the people; a person who fits any fits {fewest}, and a guess among the "
                f"fitting rows is right for about {percent(right)} of the people."
            ),
            mitigation=Mitigation(
                f"Promise that every person is one of more than {k:,}, and suppress who cannot be.",
                f"[privacy]\nk = {2 * k}",
            ),
            certain=max(alone - absent, 0),
            figures={
                "singled_out": alone,
                "fitting_none": int((found == 0).sum()),
                "fewest_candidates": int(there.min()),
                "mean_candidates": float(found.mean()),
                "expected_right": right,
            },
        )


def _strangers(seen: Sight, size: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """People who are not in the table: each column is drawn by itself."""
    n, columns = seen.people.shape
    return np.column_stack([seen.people[rng.integers(n, size=size), place] for place in range(columns)])
